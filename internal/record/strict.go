package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// strictness checks a row's JSON against its type before it is decoded. encoding/json by itself would take a missing field, a null and
// a misspelt name for zero, and zero is a measurement here ("no number read" taken for 0 is the classic fault).
// So: every field that the writer always writes has to be there, none that it doesn't know, and null only where a list, a map or an optional part may be empty.
//
// Every schema since the first has only added fields, each tagged with the number that it came with, so one set of types reads them all.
type strictness struct {
	schema int
	fields map[reflect.Type]map[string]fieldRule
}

type fieldRule struct {
	typ      reflect.Type
	required bool
	quoted   bool // a 64-bit number as a decimal string
	order    int  // of declaration: the first fault of a row is the first in FORMAT.md's order
}

// check returns the path of the first wrong field and what is wrong with it.
func (s *strictness) check(raw json.RawMessage, t reflect.Type, path string) (string, error) {
	isNull := string(raw) == "null"
	switch {
	case t.Kind() == reflect.Pointer:
		if isNull {
			return "", nil
		}
		return s.check(raw, t.Elem(), path)
	case isNull && t.Kind() != reflect.Slice && t.Kind() != reflect.Map:
		return path, fmt.Errorf("is null, and has to have a value")
	case isNull:
		return "", nil
	case t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		return s.checkObject(raw, t, path)
	case (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) && hasFields(t.Elem()):
		return s.checkList(raw, t.Elem(), path)
	case t.Kind() == reflect.Map && hasFields(t.Elem()):
		return s.checkMap(raw, t.Elem(), path)
	}
	return "", nil
}

func (s *strictness) checkObject(raw json.RawMessage, t reflect.Type, path string) (string, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return path, fmt.Errorf("is no JSON object: %w", err)
	}
	rules := s.rules(t)
	for _, name := range inOrder(rules) {
		value, there := object[name]
		if !there {
			if rules[name].required {
				return join(path, name), fmt.Errorf("is missing")
			}
			continue
		}
		if rules[name].quoted && !isQuotedNumber(value) {
			return join(path, name), fmt.Errorf("has to be a 64-bit number as a decimal string, and is %.40s", value)
		}
		if where, err := s.check(value, rules[name].typ, join(path, name)); err != nil {
			return where, err
		}
		delete(object, name)
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		return join(path, name), fmt.Errorf("is not a field of schema %d", s.schema)
	}
	return "", nil
}

func (s *strictness) checkList(raw json.RawMessage, element reflect.Type, path string) (string, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return path, fmt.Errorf("is no JSON list: %w", err)
	}
	for i, value := range list {
		if where, err := s.check(value, element, path+"["+strconv.Itoa(i)+"]"); err != nil {
			return where, err
		}
	}
	return "", nil
}

func (s *strictness) checkMap(raw json.RawMessage, element reflect.Type, path string) (string, error) {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return path, fmt.Errorf("is no JSON object: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		if where, err := s.check(entries[name], element, join(path, name)); err != nil {
			return where, err
		}
	}
	return "", nil
}

// rules are a struct's fields by JSON name, those of embedded structs among them.
func (s *strictness) rules(t reflect.Type) map[string]fieldRule {
	if rules, ok := s.fields[t]; ok {
		return rules
	}
	rules := map[string]fieldRule{}
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous {
			continue
		}
		if since, _ := strconv.Atoi(field.Tag.Get("since")); since > s.schema {
			continue
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		rules[name] = fieldRule{typ: field.Type, required: !strings.Contains(options, "omitempty"), quoted: strings.Contains(options, "string"), order: len(rules)}
	}
	if s.fields == nil {
		s.fields = map[reflect.Type]map[string]fieldRule{}
	}
	s.fields[t] = rules
	return rules
}

func inOrder(rules map[string]fieldRule) []string {
	names := make([]string, len(rules))
	for name, rule := range rules {
		names[rule.order] = name
	}
	return names
}

// isQuotedNumber is asked before encoding/json is, whose own error about such a field doesn't name it.
func isQuotedNumber(raw json.RawMessage) bool {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return false
	}
	_, err := strconv.ParseUint(text, 10, 64)
	return err == nil
}

func hasFields(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
