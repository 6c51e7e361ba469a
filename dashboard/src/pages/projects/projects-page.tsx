/** All projects of the organization side by side: their 30 days to date and the 30 days before. */
import { useQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { roleAllows } from '../../../../src/domain/people/member.js';
import { summariesQuery } from '../../api/projects.js';
import type { Organization, Summaries } from '../../api/types.js';
import { Sparkline } from '../../chart/sparkline.js';
import { ChangeNote } from '../../components/content/change.js';
import { Page } from '../../components/content/page.js';
import { type Column, Table } from '../../components/content/table.js';
import { Time } from '../../components/content/time.js';
import { EmptyState } from '../../components/feedback/empty-state.js';
import { Loaded } from '../../components/feedback/loaded.js';
import { ButtonLink } from '../../components/forms/button.js';
import { count } from '../../format/numbers.js';
import { projectPage, useOrganization } from '../../navigation/current-project.js';
import { browserZone } from '../../time/zone.js';
import { NotFoundPage } from '../not-found-page.js';
import './projects.css';

type Summary = Summaries['projects'][number];

export function ProjectsPage() {
  const organization = useOrganization();
  if (organization === null) return <NotFoundPage what="You belong to no organization." />;
  return <AllProjects organization={organization} />;
}

function AllProjects({ organization }: { organization: Organization }) {
  const query = useQuery(summariesQuery(organization.id, browserZone()));
  return (
    <Page
      title="All projects"
      of={organization.name}
      lead={query.data && <Lead {...query.data} />}
      actions={
        roleAllows(organization.role, 'editor') && (
          <ButtonLink href="/new-project" icon={Plus}>
            New project
          </ButtonLink>
        )
      }
    >
      <Loaded query={query} what="The projects" rows={4}>
        {(summaries) => <ProjectsTable {...summaries} />}
      </Loaded>
    </Page>
  );
}

function Lead({ projects, projectsTotal }: Summaries) {
  return (
    <>
      The 30 days to date of each project, in its own time zone, compared with the 30 days before.
      {projects.length < projectsTotal &&
        ` Shown are ${count(projects.length)} of ${count(projectsTotal)} projects.`}
    </>
  );
}

function ProjectsTable({ projects }: Summaries) {
  const columns: Column<Summary>[] = [
    {
      head: 'Project',
      kind: 'name',
      sortValue: ({ name }) => name.toLowerCase(),
      cell: ({ id, name }) => (
        <Link href={projectPage(id)} className="projects-name">
          {name}
        </Link>
      ),
    },
    {
      head: 'Queries',
      kind: 'number',
      sortValue: ({ total }) => total,
      cell: ({ total }) => count(total),
    },
    {
      head: 'Change',
      kind: 'number',
      sortValue: ({ total, previousTotal }) => total / previousTotal || 0,
      cell: ({ total, previousTotal, previous, recordingBegan }) =>
        total === 0 && previousTotal === 0 ? (
          '–'
        ) : (
          <ChangeNote
            now={total}
            before={previousTotal}
            range={previous}
            recordingBegan={recordingBegan}
            isNamed={false}
          />
        ),
    },
    {
      head: 'Trend',
      // Without today, which would look like a drop.
      cell: ({ days, total }) => (total === 0 ? '–' : <Sparkline values={days.slice(0, -1)} type="all" />),
    },
    {
      head: 'Last query',
      sortValue: ({ lastQueryAt }) => lastQueryAt ?? '',
      cell: ({ lastQueryAt }) => (lastQueryAt === null ? 'None yet' : <Time at={lastQueryAt} />),
    },
  ];
  return (
    <div className="card">
      {projects.length === 0 ? (
        <EmptyState title="No projects yet" />
      ) : (
        <Table
          caption="All projects"
          columns={columns}
          rows={projects}
          rowKey={({ id }) => id}
          sorted={{ column: 'Queries', isAscending: false }}
        />
      )}
    </div>
  );
}
