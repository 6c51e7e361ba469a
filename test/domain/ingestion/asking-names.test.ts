/** Which names of routes and events say that they are those of questions. Any other name is proposed for none. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isAskingEvent, isAskingRoute } from '../../../src/domain/ingestion/asking-names.js';

test.each([
  ...['/', '', '/*', '/**', '/api/**:path', '/*any', '/x/*', '/{*rest}', '{**path}', '/{*path:nonfile}'],
  ...['/{path:path}', '/api/{path:path}', '/<path:path>', '/:path*', '/:any+', '/[...slug]', '/[[...slug]]'],
  ...[
    '/{proxy+}',
    '$default',
    '/(.*)',
    '/^\\/api/',
    '^(?P<path>.*)$',
    '/ask/*',
    '/chat/{path:path}',
    '/{path}',
  ],
  ...['UNKNOWN', 'NOT_FOUND', 'REDIRECTION', 'none', 'root', 'POST /', 'POST /{$}', '/error'],
  ...[
    '/health',
    '/healthz',
    '/health-check',
    '/_health',
    '/livez',
    '/liveness',
    '/readyz',
    '/readiness',
    '/up',
  ],
  ...['/alive', '/ping', '/heartbeat', '/__lbheartbeat__', '/_ah/warmup', '/warm-up', '/prestop', '/metrics'],
  ...['/actuator/refresh', '/login', '/api/auth/[...nextauth]', '/oauth2/token', '/register', '/csrf-cookie'],
  ...[
    '/v1/chat/completions',
    '/chat/completions',
    '/v1/completions',
    '/v1/responses',
    '/v1/messages',
    '/v1/embeddings',
  ],
  ...[
    '/openai/deployments/{id}/chat/completions',
    '/v1/models/{model}:generateContent',
    '/model/{id}/invoke',
  ],
  ...[
    '/model/{id}/invoke-with-response-stream',
    '/api/generate',
    '/api/embed',
    '/generate_stream',
    '/score',
    '/rerank',
  ],
  ...[
    '/v1/audio/transcriptions',
    '/v1/images/generations',
    '/v1/messages/count_tokens',
    '/v1/threads/{id}/runs',
  ],
  ...[
    '/mcp',
    '/mcp/',
    '/api/mcp',
    '/api/mcp/message',
    '/mcp/{id}',
    '/messages',
    '/api/[transport]',
    '/mcp/ask',
  ],
  ...[
    '/graphql',
    '/trpc/[trpc]',
    '/webhook',
    '/webhooks/ask',
    '/github/hook',
    '/slack/events',
    '/interactions',
  ],
  ...[
    '/api/chat/{id}/resume',
    '/api/chat/stop',
    '/api/chat/{id}/cancel',
    '/api/chat/title',
    '/api/generate-title',
  ],
  ...[
    '/api/summarize',
    '/api/follow-ups',
    '/api/related-questions',
    '/api/suggested-questions',
    '/api/autocomplete',
  ],
  ...[
    '/api/chat/{id}/feedback',
    '/api/messages/{id}/thumbs',
    '/api/rate',
    '/api/history',
    '/api/conversations',
  ],
  ...[
    '/chats',
    '/api/threads',
    '/chat/settings',
    '/agents',
    '/prompts',
    '/api/share',
    '/api/export',
    '/api/search',
  ],
  ...[
    '/admin/reindex',
    '/admin/ask',
    '/api/crawl',
    '/evals/ask',
    '/evaluate',
    '/cron/ask',
    '/jobs',
    '/tasks/{id}',
  ],
  ...['/api/inngest', '/.well-known/workflow/v1/step', '/.well-known/agent.json', '/_ah/push-handlers/ask'],
  ...[
    '/v1/traces',
    '/v1/logs',
    '/csp-report',
    '/api/events',
    '/api/vitals',
    '/api/query_range',
    '/vectors/query',
  ],
  ...['/items/{id}', '/users/{id}', '/config', '/api/me', '/upload', '/api/transcribe', '/api/translate'],
  ...['/wp-login.php', '/xmlrpc.php', '/cgi-bin/luci', '/boaform/admin/formLogin', '/en/blog/how-to'],
])('the route %s is not one of questions', (route) => {
  expect(isAskingRoute(route)).toBe(false);
});

test.each([
  ...[
    '/ask',
    'ask',
    'ask/',
    '/ask(.:format)',
    '^ask/$',
    'POST /ask',
    'POST docs.example.com/ask',
    'ANY /ask',
  ],
  ...[
    '/api/ask',
    '/v1/ask',
    '/api/v2/docs/ask',
    '/ask-ai',
    '/askDocs',
    '/ask_question',
    '/api/questions',
    '/query',
  ],
  ...[
    '/chat',
    '/api/chat',
    '/api/chat/route',
    '/chat/stream',
    '/chat/{id}',
    '/api/chat/[id]',
    '/sessions/:id/chat',
  ],
  ...[
    '/chats/:id/messages',
    '/conversations/:conversation_id/messages(.:format)',
    '/conversations/<int:id>/messages',
  ],
  ...['/threads/{thread_id}/runs/stream', '/runs/wait', '/agent', '/agent/invoke', '/rag', '/rag/stream_log'],
  ...[
    '/assistant',
    '/docs-assistant',
    '/api/copilotkit',
    '/api/answer',
    '/api/prompt',
    '/chatbot',
    '/api/ai',
  ],
])('the route %s is one of questions', (route) => {
  expect(isAskingRoute(route)).toBe(true);
});

test.each([
  ...['question.feedback', 'prompt.cached', 'db.query', 'slow_query', 'query.failed', 'suggested_questions'],
  ...[
    'gen_ai.user.message',
    'gen_ai.client.inference.operation.details',
    'search.query',
    'prompt.template.loaded',
  ],
  ...[
    'question.rejected',
    'graphql.query',
    'postgres.query',
    'system_prompt',
    'api_request',
    'task',
    'eval.question',
  ],
])('the event %s is not one of questions', (event) => {
  expect(isAskingEvent(event)).toBe(false);
});

test.each([
  ...[
    'question',
    'docs.question',
    'acme.docs.question',
    'question.asked',
    'questionAsked',
    'user_asked',
    'ask',
  ],
  ...[
    'user_prompt',
    'claude_code.user_prompt',
    'assistant.query',
    'query',
    'query.received',
    'question submitted',
  ],
])('the event %s is one of questions', (event) => {
  expect(isAskingEvent(event)).toBe(true);
});

test('a part that takes any path makes a route of anything', () => {
  const any = fc.constantFrom('*', '{path:path}', '<path:rest>', '[...slug]', ':rest*', '{proxy+}', '(.*)');
  const literal = fc.constantFrom('ask', 'api', 'chat', 'v1', '{id}');
  fc.assert(
    fc.property(fc.array(literal), any, fc.array(literal), (before, all, after) => {
      expect(isAskingRoute(`/${[...before, all, ...after].join('/')}`)).toBe(false);
    }),
  );
});
