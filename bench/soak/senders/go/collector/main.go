// Command collector is an OpenTelemetry Collector that ships a log.
package main

import (
	"log"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/filelogreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/otlphttpexporter"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/service/telemetry/otelconftelemetry"
)

func components() (otelcol.Factories, error) {
	file, storage, http := filelogreceiver.NewFactory(), filestorage.NewFactory(), otlphttpexporter.NewFactory()
	return otelcol.Factories{
		Telemetry:  otelconftelemetry.NewFactory(),
		Receivers:  map[component.Type]receiver.Factory{file.Type(): file},
		Extensions: map[component.Type]extension.Factory{storage.Type(): storage},
		Exporters:  map[component.Type]exporter.Factory{http.Type(): http},
	}, nil
}

func main() {
	settings := otelcol.CollectorSettings{BuildInfo: component.NewDefaultBuildInfo(), Factories: components}
	settings.ConfigProviderSettings.ResolverSettings.ProviderFactories = []confmap.ProviderFactory{
		fileprovider.NewFactory(), envprovider.NewFactory(),
	}
	if err := otelcol.NewCommand(settings).Execute(); err != nil {
		log.Fatal(err)
	}
}
