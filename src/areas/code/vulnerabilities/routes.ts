/** Vulnerabilities: known security problems of a project's dependencies (docs/reference/vulnerabilities.md). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import { type Project, projectRole } from '../../../access/index.ts';
import { severities } from '../../../advisories/index.ts';
import { type Database, isAmong, ofAnyLength } from '../../../db/index.ts';
import { CommaList, checked, found, get, Id, one, optional, pageOf, put, type Services } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { changeState } from './actions.ts';
import {
  details,
  presentAffected,
  presentVulnerability,
  ReportType,
  Severities,
  State,
  Vulnerability,
  VulnerabilityDetails,
  vulnerabilityColumns,
} from './present.ts';

const plan = 'ultimate';
const path = '/projects/:id/vulnerabilities';
const maximumComment = 50_000;

const reader = projectRole('developer', { permission: 'read_vulnerability', archived: true });
const changer = projectRole('maintainer', { permission: 'admin_vulnerability' });

interface Filters {
  state?: string[];
  severity?: (typeof severities)[number][];
  report_type?: string[];
  present?: boolean;
}

function vulnerabilitiesOf(
  db: Database,
  project: Project,
  { state = [], severity = [], report_type = [], present }: Filters = {},
) {
  const severe = severity.map((word) => severities.indexOf(word));
  return db
    .selectFrom('vulnerabilities')
    .select(vulnerabilityColumns)
    .where('project_id', '=', project.id)
    .where(state.length > 0 ? isAmong('state', state, 'text[]') : sql<boolean>`true`)
    .where(severe.length > 0 ? isAmong('severity', severe, 'smallint[]') : sql<boolean>`true`)
    .where(
      report_type.length > 0
        ? sql<boolean>`coalesce(report_type, 'dependency_scanning') = any(${ofAnyLength(report_type, 'text[]')})`
        : sql<boolean>`true`,
    )
    .where(present === undefined ? sql<boolean>`true` : sql<boolean>`is_present = ${present}`);
}

async function vulnerabilityIn(
  { db, url }: Pick<Services, 'db' | 'url'>,
  project: Project,
  id: number,
): Promise<Static<typeof VulnerabilityDetails>> {
  const row = await vulnerabilitiesOf(db, project)
    .select([
      details.advisories.as('advisories'),
      details.findings.as('findings'),
      details.dependencies.as('dependencies'),
      details.state_changes.as('state_changes'),
    ])
    .where('id', '=', id)
    .executeTakeFirst();
  const { advisories, findings, dependencies, state_changes, ...core } = found(undefined, row);
  return {
    ...presentVulnerability(core, { url, full_path: project.full_path }),
    advisories,
    findings,
    dependencies: dependencies.map(presentAffected),
    state_changes,
  };
}

export const vulnerabilityRoutes = [
  get(path, {
    operation: 'listProjectVulnerabilities',
    summary: 'List the vulnerabilities of a project, the most severe first',
    description:
      'They are found by comparing the dependencies of the default branch with the advisories that administrators import, and by the scanners that jobs of its newest pipeline run.',
    access: reader,
    plan,
    input: {
      state: optional(CommaList(State)),
      severity: optional(CommaList(Severities)),
      report_type: optional(CommaList(ReportType)),
      present: optional(Type.Boolean({ description: 'Whether a dependency is affected, or a job has found it, now' })),
      ...paging,
    },
    returns: pageOf(Vulnerability),
    handle: async ({ db, url, project, input }) => {
      const page = await paginate(
        db,
        vulnerabilitiesOf(db, project, input).orderBy('severity', 'desc').orderBy('id'),
        input,
      );
      return mapPage(page, (row) => presentVulnerability(row, { url, full_path: project.full_path }));
    },
  }),
  get(`${path}/:vulnerability_id`, {
    operation: 'getProjectVulnerability',
    summary:
      'Get a vulnerability with the advisories about it, what jobs found, the dependencies that are affected, and the changes of its state',
    access: reader,
    plan,
    input: { vulnerability_id: Id },
    returns: one(VulnerabilityDetails),
    handle: ({ project, input, ...services }) => vulnerabilityIn(services, project, input.vulnerability_id),
  }),
  put(`${path}/:vulnerability_id`, {
    operation: 'updateProjectVulnerability',
    summary: 'Change the state of a vulnerability',
    access: changer,
    plan,
    input: {
      vulnerability_id: Id,
      state: State,
      comment: optional(
        checked(Type.String({ description: 'Why' }), (text) =>
          text.length > maximumComment ? [`is too long (maximum is ${maximumComment} characters)`] : [],
        ),
      ),
    },
    returns: one(VulnerabilityDetails),
    handle: async ({ caller, project, input, ...services }) => {
      const { vulnerability_id: id, state, comment = null } = input;
      const change = { user_id: caller.id, state, comment };
      await services.db.transaction().execute((tx) => changeState(tx, { id, project_id: project.id }, change));
      return vulnerabilityIn(services, project, id);
    },
  }),
];
