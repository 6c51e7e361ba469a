/**
 * A plugin of Stryker: leaves out mutants of what is only wording. A message with another text, or none, is not a wrong
 * answer, and a test that held each sentence would say the same twice. What decides anything is mutated: codes of errors,
 * names, conditions around a message.
 */
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

/** Calls whose strings are sentences for people, and how many arguments before those are not. */
const SENTENCES = new Map([
  ['failure', 0],
  ['Error', 0],
  ['RangeError', 0],
  ['TypeError', 0],
  ['CallerStatsError', 1],
]);

const ignorer = {
  /** Why a node is not mutated; undefined where it is. `path` is Babel's. */
  shouldIgnore(path) {
    if (!path.isStringLiteral() && !path.isTemplateLiteral()) return undefined;
    for (let inner = path; inner.parentPath && !inner.isFunction(); inner = inner.parentPath) {
      const call = inner.parentPath;
      if (inner.listKey !== 'arguments' || !(call.isCallExpression() || call.isNewExpression())) continue;
      const before = SENTENCES.get(call.node.callee.name);
      return before !== undefined && inner.key >= before ? 'wording of a message' : undefined;
    }
    return undefined;
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'wording', ignorer)];
