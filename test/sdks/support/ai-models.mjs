/** The AI SDK in its versions, each with models that answer without a network. */

const versions = {
  5: { language: 'MockLanguageModelV2', embedding: 'MockEmbeddingModelV2' },
  6: { language: 'MockLanguageModelV3', embedding: 'MockEmbeddingModelV3' },
  7: { language: 'MockLanguageModelV4', embedding: 'MockEmbeddingModelV4' },
};

const usageOf = (version) =>
  version === '5'
    ? { inputTokens: 3, outputTokens: 10, totalTokens: 13 }
    : {
        inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 10, text: 10, reasoning: undefined },
      };

/** `version` is the major version: '5', '6' or '7'. */
export async function loadAiSdk(version) {
  return modelsOf(version, await import(`ai${version}`), await import(`ai${version}/test`));
}

export function modelsOf(version, sdk, mocks) {
  const Language = mocks[versions[version].language];
  const Embedding = mocks[versions[version].embedding];
  const usage = usageOf(version);
  const reasonOf = (reason) => (version === '5' ? reason : { unified: reason, raw: undefined });
  /** A model that gives these answers, one each call, and then the last one again. An Error is thrown. */
  const model = (...answers) => {
    let calls = 0;
    const next = () => {
      const answer = answers[Math.min(calls++, answers.length - 1)];
      if (answer instanceof Error) throw answer;
      return answer;
    };
    return new Language({
      doGenerate: async () => {
        const answer = next();
        const isCall = typeof answer === 'object';
        return {
          content: [isCall ? { type: 'tool-call', ...answer } : { type: 'text', text: answer }],
          finishReason: reasonOf(isCall ? 'tool-calls' : 'stop'),
          usage,
          warnings: [],
        };
      },
      doStream: async () => {
        const answer = next();
        const isCall = typeof answer === 'object';
        const content = isCall
          ? [{ type: 'tool-call', ...answer }]
          : [
              { type: 'text-start', id: '1' },
              ...answer.split(/(?= )/).map((delta) => ({ type: 'text-delta', id: '1', delta })),
              { type: 'text-end', id: '1' },
            ];
        const finish = { type: 'finish', finishReason: reasonOf(isCall ? 'tool-calls' : 'stop'), usage };
        return {
          stream: sdk.simulateReadableStream({
            initialDelayInMs: 5,
            chunkDelayInMs: 5,
            chunks: [{ type: 'stream-start', warnings: [] }, ...content, finish],
          }),
        };
      },
    });
  };
  const embedding = new Embedding({
    doEmbed: async ({ values }) => ({
      embeddings: values.map(() => [0.1, 0.2]),
      usage: { tokens: 1 },
      warnings: [],
    }),
  });
  return { sdk, model, embedding };
}
