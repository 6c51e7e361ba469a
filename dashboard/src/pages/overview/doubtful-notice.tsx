/** Says that queries have doubtful times. */
import { DocsLink } from '../../components/content/docs-link.js';
import { Notice } from '../../components/feedback/notice.js';
import { queriesInWords } from '../corrections/words.js';

export function DoubtfulNotice({ doubtful }: { doubtful: number }) {
  return (
    <Notice kind="warn">
      {queriesInWords(doubtful)} of times before 2000 {doubtful === 1 ? 'is' : 'are'} in the numbers, but not
      in the chart: likely, the times were in another unit, or of a clock that was not set.{' '}
      <DocsLink page="not-arriving#times-before-2000">What to do</DocsLink>
    </Notice>
  );
}
