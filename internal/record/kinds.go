package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// rowTypes is the one table of kinds: the writer takes a row's kind from its type, the reader its type from its kind.
var rowTypes = map[string]reflect.Type{
	KindHeader:   reflect.TypeFor[Header](),
	KindBroker:   reflect.TypeFor[Broker](),
	KindPlan:     reflect.TypeFor[Plan](),
	KindScope:    reflect.TypeFor[Scope](),
	KindControl:  reflect.TypeFor[Control](),
	KindFamily:   reflect.TypeFor[Family](),
	KindBlock:    reflect.TypeFor[Block](),
	KindCell:     reflect.TypeFor[Cell](),
	KindBatch:    reflect.TypeFor[Batch](),
	KindSteady:   reflect.TypeFor[Steady](),
	KindEvidence: reflect.TypeFor[Evidence](),
	KindFault:    reflect.TypeFor[Fault](),
	KindHost:     reflect.TypeFor[Host](),
	KindLook:     reflect.TypeFor[Look](),
	KindRound:    reflect.TypeFor[HostRound](),
	KindProfile:  reflect.TypeFor[Profile](),
	KindTrailer:  reflect.TypeFor[Trailer](),
}

// kindOf gives the kind of a row type, "" for anything that is no row.
func kindOf(t reflect.Type) string {
	for kind, rowType := range rowTypes {
		if rowType == t {
			return kind
		}
	}
	return ""
}

// encode makes the line of a row (a value or a pointer to one). It sets the kind itself, and on a header the schema, so
// that no caller can write a row under another one's name.
func encode(row any) ([]byte, error) {
	value := reflect.ValueOf(row)
	if value.Kind() == reflect.Pointer && !value.IsNil() {
		value = value.Elem()
	}
	if !value.IsValid() {
		return nil, fmt.Errorf("a nil row cannot be recorded")
	}
	kind := kindOf(value.Type())
	if kind == "" {
		return nil, fmt.Errorf("a %T is no row of the record: FORMAT.md lists the kinds", row)
	}
	stamped := reflect.New(value.Type()).Elem()
	stamped.Set(value)
	stamped.FieldByName("Kind").SetString(kind)
	if kind == KindHeader {
		stamped.FieldByName("Schema").SetInt(Schema)
	}

	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false) // the file is read by people, too
	if err := encoder.Encode(stamped.Interface()); err != nil {
		return nil, fmt.Errorf("a %s row cannot be written as JSON: %w", kind, err)
	}
	return line.Bytes(), nil
}
