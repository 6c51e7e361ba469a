/**
 * The operations that spans and log records name, such as `gen_ai.operation.name=chat`: of a record that matches no rule they
 * tell which rule it would match. Only these attributes are read, because they never contain a prompt or an answer.
 */
import { operationCharactersMax } from '../limits.js';
import { formatQueryRules, KNOWN_RULES, matchesRules, type QueryRule } from '../queries/telemetry-rules.js';

export const OPERATION_ATTRIBUTES: readonly string[] = [
  ...new Set([
    ...KNOWN_RULES.filter(({ values }) => values.length > 0).map(({ attribute }) => attribute),
    'traceloop.span.kind',
    'operation.name',
    'next.span_type',
    'http.route',
    'event.name',
  ]),
];

/** Operations that occur within queries or apart from them: a rule for one of these would count something that is not a query. */
const NO_QUESTIONS: readonly QueryRule[] = [
  {
    attribute: 'gen_ai.operation.name',
    values: ['create_agent', 'embeddings', 'execute_tool', 'retrieval'],
  },
  {
    attribute: 'ai.operationId',
    values: ['ai.embed', 'ai.embedMany', 'ai.rerank', 'ai.toolCall'],
  },
  {
    attribute: 'openinference.span.kind',
    values: ['EMBEDDING', 'RETRIEVER', 'RERANKER', 'TOOL', 'GUARDRAIL', 'EVALUATOR', 'PROMPT'],
  },
  { attribute: 'llm.request.type', values: ['embedding', 'rerank'] },
  { attribute: 'traceloop.span.kind', values: ['tool', 'task'] },
  {
    attribute: 'langfuse.observation.type',
    values: ['embedding', 'retriever', 'tool', 'guardrail', 'evaluator', 'event'],
  },
  { attribute: 'genkit:metadata:subtype', values: ['embedder', 'retriever', 'reranker', 'indexer', 'tool'] },
];

/** The operations that a record names, as `attribute=value`. Those that are too long to be the name of one are left out. */
export function readOperations(attributes: ReadonlyMap<string, string>): string[] {
  return OPERATION_ATTRIBUTES.flatMap((attribute) => {
    const value = attributes.get(attribute) ?? '';
    const isName = value !== '' && value.length <= operationCharactersMax && !/[\p{Cc}\p{Cs}]/u.test(value);
    return isName ? [`${attribute}=${value}`] : [];
  });
}

export interface Operation {
  readonly attribute: string;
  readonly value: string;
}

export function splitOperation(operation: string): Operation {
  const at = operation.indexOf('=');
  return { attribute: operation.slice(0, at), value: operation.slice(at + 1) };
}

/**
 * The setting `--otlp-query` that also accepts records with this operation; null if it is accepted already, if it is no
 * question, or if a rule cannot name it.
 */
export function suggestRules({ attribute, value }: Operation, rules: readonly QueryRule[]): string | null {
  const attributes = new Map([[attribute, value]]);
  if (/[,;]/.test(value) || matchesRules(attributes, rules) || matchesRules(attributes, NO_QUESTIONS))
    return null;
  return formatQueryRules([...rules, { attribute, values: [value] }]);
}
