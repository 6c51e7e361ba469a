import { describe, expect, test } from 'vitest';
import { readTracingSettings } from '../../../src/cli/settings/server-settings.js';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

describe('tracing settings are refused', () => {
  test.each([
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'user:secret@host' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT: is not an address[^@]+$/,
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'ftp://host' },
      /^OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: is not/,
    ],
    [
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      /"grpc" is not supported; choose http\/protobuf or http\/json/,
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'host', OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'udp' },
      /^OTEL_EXPORTER_OTLP_ENDPOINT: .+\nOTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "udp"/,
    ],
  ])('with %j', (env, problems) => {
    expect(() => readTracingSettings(env)).toThrow(problems);
  });
});

describe('tracing is off', () => {
  test.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' },
    { ...endpoint, OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
  ])('with %j', (env) => {
    expect(readTracingSettings(env)).toBeUndefined();
  });
});

test.each([
  [endpoint, 'http/protobuf'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: '' }, 'http/protobuf'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }, 'http/json'],
  [
    {
      ...endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/protobuf',
    },
    'http/protobuf',
  ],
  [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.org/v1/traces' }, 'http/protobuf'],
])('tracing with %j uses %s', (env, protocol) => {
  expect(readTracingSettings(env)).toEqual({ protocol });
});
