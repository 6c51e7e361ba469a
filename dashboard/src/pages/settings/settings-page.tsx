/** The settings of a project: a list of cards, each of which saves itself. */
import { roleAllows } from '../../../../src/domain/people/member.js';
import { Page } from '../../components/content/page.js';
import { Notice } from '../../components/feedback/notice.js';
import type { CurrentProject } from '../../navigation/current-project.js';
import { DeleteProject } from './delete-project.js';
import { EarliestTime } from './earliest-time.js';
import { Notifications } from './notifications/notifications.js';
import { ProjectCalendar } from './project-calendar.js';
import { ProjectName } from './project-name.js';
import { Retention } from './retention.js';
import { Sharing } from './sharing/sharing.js';
import { Telemetry } from './telemetry.js';

/** The cards in their order. What cannot be undone comes last. */
const CARDS = [
  { name: 'name', Card: ProjectName },
  { name: 'calendar', Card: ProjectCalendar },
  { name: 'retention', Card: Retention },
  { name: 'earliest', Card: EarliestTime },
  { name: 'opentelemetry', Card: Telemetry },
  { name: 'sharing', Card: Sharing },
  { name: 'notifications', Card: Notifications },
  { name: 'delete', Card: DeleteProject },
];

export function SettingsPage(current: CurrentProject) {
  const { organization, project } = current;
  const isEditor = roleAllows(organization.role, 'editor');
  return (
    <Page title="Settings" of={project.name} isNarrow>
      {!isEditor && <Notice>You are a viewer here: only owners and editors change settings.</Notice>}
      <fieldset className="settings" disabled={!isEditor}>
        <legend className="out-of-sight">Settings of {project.name}</legend>
        {CARDS.map(({ name, Card }) => (
          <Card key={name} {...current} />
        ))}
      </fieldset>
    </Page>
  );
}
