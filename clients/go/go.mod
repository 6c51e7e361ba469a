module caller-stats.example/clients/go

go 1.24
