/** How environments and deployments leave and arrive (docs/reference/relations_export.md#environments). */
import { sql } from 'kysely';
import { isUsable } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type Arrival,
  choice,
  column,
  columnOr,
  type Departure,
  flag,
  integer,
  isText,
  lenient,
  long,
  parts,
  person,
  type RecordKind,
  type Relation,
  reference,
  required,
  sha,
  somebody,
  text,
  time,
} from '../../../relations/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { tiers } from '../protected_environments/rules.ts';
import {
  deploymentStatuses,
  descriptionReasons,
  environmentStates,
  externalUrlReasons,
  longest_s,
  nameReasons,
  slugReasons,
} from './rules.ts';

/** A predicate on rows of a table of the project: the reader may use its environments, and its repository, because deployments reveal commits and branches. */
const isVisible =
  (table: 'environments' | 'deployments') =>
  ({ caller }: Departure) =>
    sql<boolean>`exists (select from projects where projects.id = ${sql.ref(`${table}.project_id`)}
                          and ${isUsable(caller, 'environments')} and ${isUsable(caller, 'repository')})`;

const stamps = { created_at: required('created_at', time), updated_at: required('updated_at', time) };

const environment: RecordKind = {
  table: 'environments',
  owner: { project: 'project_id' },
  isVisible: isVisible('environments'),
  title: 'name',
  members: {
    name: required('name', text(nameReasons)),
    slug: required('slug', text(slugReasons)),
    description: column('description', text(descriptionReasons)),
    external_url: column('external_url', text(externalUrlReasons)),
    tier: lenient('tier', choice(...tiers), 'other'),
    state: lenient('state', choice(...environmentStates), 'available'),
    auto_stop_at: column('auto_stop_at', time),
    auto_stop_in: column('auto_stop_in_s', long),
    auto_delete_at: column('auto_delete_at', time),
    ...stamps,
  },
  stays: {},
  distinct: ['name'],
  refuse: ({ auto_stop_in_s: span_s }) =>
    span_s !== null && !((span_s as number) > 0 && (span_s as number) <= longest_s)
      ? 'auto_stop_in is invalid'
      : undefined,
};

/** The environments of a project. */
export const environments: Relation = { name: 'environments', kind: environment };

/** An environment as referenced by a deployment. */
const namedEnvironment: RecordKind = {
  table: 'environments',
  members: { name: column('name', text()) },
  stays: {},
};

async function findEnvironments(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const names = wanted.flatMap(({ name }) => (isText(name) ? [name] : []));
  const rows = await tx
    .selectFrom('environments')
    .select(['id', 'name'])
    .where('project_id', '=', owner.id)
    .where(isAmong('name', names, 'text[]'))
    .execute();
  const ids = new Map<unknown, number>(rows.map(({ id, name }) => [name, id]));
  return wanted.map(({ name }) => ids.get(name) ?? null);
}

const approval: RecordKind = {
  table: 'deployment_approvals',
  members: {
    user_id: somebody('user_id'),
    status: required('status', choice('approved', 'rejected')),
    comment: column('comment', text(descriptionReasons)),
    created_at: required('created_at', time),
  },
  stays: { rule_id: 'a deployment that waits is approved again by the rules that are here' },
  distinct: ['user_id'],
};

/** A predicate on rows of `deployments`: the reader may see them. */
export const canSeeDeployments = isVisible('deployments');

const deployment: RecordKind = {
  table: 'deployments',
  owner: { project: 'project_id' },
  isVisible: canSeeDeployments,
  title: 'iid',
  numbered: 'deployments',
  members: {
    iid: required('iid', integer(1)),
    environment: { ...reference('environment_id', namedEnvironment, findEnvironments), is_required: true },
    ref: required(
      'ref',
      text((ref) => tooLong(ref, 255)),
    ),
    tag: columnOr('tag', flag, false),
    sha: required('sha', sha),
    status: required('status', choice(...deploymentStatuses)),
    user_id: person('user_id'),
    during_freeze: columnOr('during_freeze', flag, false),
    ...stamps,
    finished_at: column('finished_at', time),
    approvals: parts(approval, 'deployment_id'),
  },
  stays: {
    job_id: 'pipelines do not leave',
    on_stop: 'it names a job, and pipelines do not leave',
    made_as_name: 'a deployment that waits does so by the rules that are here',
    made_as_tier: 'a deployment that waits does so by the rules that are here',
  },
};

/** The deployments of a project. Their environments are imported first. */
export const deployments: Relation = { name: 'deployments', kind: deployment, is_batched: true };
