package build

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Build tags of internal/client/franz, for what a client doesn't have yet.
const tagNoProduceIDs = "franz_no_produce_ids"

var (
	processFetchPartition = regexp.MustCompile(`(?m)^func ProcessFetchPartition\(`)
	produceRequestTopic   = regexp.MustCompile(`(?ms)^type ProduceRequestTopic struct \{.*?^\}`)
	topicID               = regexp.MustCompile(`(?m)^\tTopicID `)
)

// features looks what the client's sources have; a release's number says nothing about a checkout.
func (t *tree) features() error {
	decodes, err := anyFile(filepath.Join(t.folder(modulePath), "pkg", "kgo"), processFetchPartition)
	if err != nil {
		return err
	}
	if !decodes {
		return faultf("%s has no kgo.ProcessFetchPartition, through which the worker decodes what the client itself would: it begins with franz-go v1.19.0, and older releases can't be measured", t.spec)
	}
	kmsg, err := os.ReadFile(filepath.Join(t.folder(kmsgPath), "generated.go"))
	if err != nil {
		return fmt.Errorf("the messages of %s can't be looked at: %w", t.spec, err)
	}
	if !topicID.Match(produceRequestTopic.Find(kmsg)) {
		t.tags = append(t.tags, tagNoProduceIDs)
	}
	return nil
}

func anyFile(dir string, has *regexp.Regexp) (bool, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return false, err
		}
		if has.Match(text) {
			return true, nil
		}
	}
	return false, nil
}
