/** The overview of a project. */
import { useEffect, useState } from 'react';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { countsOf, type ProjectRef } from '../../api/paths.js';
import type { Numbers } from '../../api/types.js';
import { Page } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { lazyPart } from '../../navigation/lazy-code.js';
import type { Choice } from '../../time/choice.js';
import type { CorrectionStart } from '../corrections/correction-dialog.js';
import { NumbersView } from './numbers-view.js';
import { Opened } from './opened.js';
import { CurlMenu } from './toolbar/curl-menu.js';
import { ExportMenu } from './toolbar/export-menu.js';
import { Updated } from './updated.js';
import { useNotes } from './use-notes.js';
import { useReading } from './use-reading.js';
import { useView } from './use-view.js';

const LossNotice = lazyPart(() => import('../sources/loss-notice.js'), 'LossNotice');
const CorrectionDialog = lazyPart(() => import('../corrections/correction-dialog.js'), 'CorrectionDialog');
const ChangesDialog = lazyPart(() => import('./changes-dialog.js'), 'ChangesDialog');
const FirstQuery = lazyPart(() => import('./first-query.js'), 'FirstQuery');

export function OverviewPage(current: CurrentProject) {
  return (
    <Opened counts={toCounts(current)} project={current.project}>
      {(usual) => <Overview {...current} usual={usual} />}
    </Opened>
  );
}

const toRef = ({ organization, project }: CurrentProject): ProjectRef => ({
  organizationId: organization.id,
  projectId: project.id,
});

const toCounts = (current: CurrentProject) => countsOf(toRef(current));

function Overview({ usual, ...current }: CurrentProject & { readonly usual: Choice }) {
  const { project } = current;
  const counts = toCounts(current);
  const [view, setView] = useView(project, usual);
  const reading = useReading(counts, view);
  const notes = useNotes(toRef(current), view, reading.numbers);
  const isEmpty = reading.numbers?.recordingBegan === null;
  const hasArrived = useArrival(isEmpty);
  const [correcting, setCorrecting] = useState<CorrectionStart | null>(null);
  const [explained, setExplained] = useState<Numbers['range'] | null>(null);
  const correct = (range: Numbers['range']): void => setCorrecting({ caller: view.caller, range });

  if (isEmpty)
    return (
      <Page title="Overview" of={project.name} lead="Nothing was recorded in this project yet.">
        <LossNotice {...current} />
        <FirstQuery {...current} />
      </Page>
    );
  return (
    <Page title="Overview" of={project.name} actions={<Updated reading={reading} />}>
      {hasArrived && (
        <Notice kind="good" alert>
          The first query has arrived. From now on this page counts along.
        </Notice>
      )}
      <LossNotice {...current} />
      <NumbersView
        counts={counts}
        view={view}
        setView={setView}
        reading={reading}
        notes={notes}
        // The changes are those of all callers.
        {...(view.caller === null && { onExplain: setExplained })}
        {...(roleAllows(current.organization.role, 'editor') && { onCorrect: correct })}
        tools={
          <>
            <CurlMenu project={project} view={view} reading={reading} />
            <ExportMenu project={project} view={view} reading={reading} />
          </>
        }
      />
      {explained !== null && (
        <ChangesDialog
          current={current}
          range={explained}
          zone={view.zone}
          onClose={() => setExplained(null)}
        />
      )}
      {correcting !== null && (
        <CorrectionDialog current={current} start={correcting} onClose={() => setCorrecting(null)} />
      )}
    </Page>
  );
}

/** Whether the very first query arrived while the page was open. */
function useArrival(isEmpty: boolean): boolean {
  const [wasEmpty, setWasEmpty] = useState(false);
  useEffect(() => {
    if (isEmpty) setWasEmpty(true);
  }, [isEmpty]);
  return wasEmpty && !isEmpty;
}
