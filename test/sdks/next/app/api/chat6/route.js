import * as sdk from 'ai6';
import * as mocks from 'ai6/test';
import { modelsOf } from '../../../../support/ai-models.mjs';

const { model, embedding } = modelsOf('6', sdk, mocks);

export async function POST(request) {
  const { messages, withId } = await request.json();
  const messageId = messages.at(-1).id;
  const telemetry = {
    experimental_telemetry: { isEnabled: true, ...(withId && { metadata: { messageId } }) },
  };
  const prompt = 'How do I install it?';
  const rewrite = await sdk.generateText({ model: model('install'), prompt, ...telemetry });
  await sdk.embed({ model: embedding, value: rewrite.text, ...telemetry });
  const result = sdk.streamText({
    model: model('Run npm install in the folder of your project and then wait.'),
    messages: await sdk.convertToModelMessages(messages),
    abortSignal: request.signal,
    ...telemetry,
  });
  return result.toUIMessageStreamResponse();
}
