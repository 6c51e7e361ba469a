/** VoltAgent with the version of the AI SDK that it needs, which is another one than that of the tests. */
export * from '@voltagent/core';
export * as sdk from 'ai';
export * as mocks from 'ai/test';
