package franz

import "testing"

// A build that was stamped says so; one that was not says what the linker knows.
func TestStampsAreInHello(t *testing.T) {
	plain := New().Hello()
	if _, there := plain.Build["content"]; there {
		t.Errorf("a worker built by hand claims a content: %v", plain.Build)
	}
	stampVersion, stampContent, stampLayout = "checkout-0123", "c0ffee", "007"
	defer func() { stampVersion, stampContent, stampLayout = "", "", "" }()
	hello := New().Hello()
	if hello.Version != "checkout-0123" || hello.Build["content"] != "c0ffee" || hello.Build["layout"] != "007" {
		t.Errorf("%+v", hello)
	}
}
