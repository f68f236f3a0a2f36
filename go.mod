module protocolbench

go 1.26
