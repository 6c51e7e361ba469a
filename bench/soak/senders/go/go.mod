module caller-stats/bench/soak/senders

go 1.24

require caller-stats.example/clients/go v0.0.0

replace caller-stats.example/clients/go => ../../../../clients/go
