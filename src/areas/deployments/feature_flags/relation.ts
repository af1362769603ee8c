/** How feature flags and user lists leave and arrive (docs/reference/relations_export.md#feature_flags). The instance id stays behind. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { isUsable } from '../../../access/index.ts';
import { type Database, isAmong } from '../../../db/index.ts';
import {
  type Arrival,
  column,
  columnOr,
  type Departure,
  flag,
  integer,
  parts,
  type RecordKind,
  Refusal,
  type Relation,
  reference,
  required,
  text,
  time,
  type Value,
} from '../../../relations/index.ts';
import { listsOf } from './queries.ts';
import {
  descriptionReasons,
  listNameReasons,
  nameReasons,
  parameterReasons,
  scopeReasons,
  strategyReasons,
  userXidsReasons,
} from './rules.ts';
import { raiseVersion } from './version_actions.ts';

/** A predicate on rows of a table of the project: the reader may use its feature flags. */
const isVisible =
  (table: 'feature_flags' | 'feature_flag_user_lists') =>
  ({ caller }: Departure): RawBuilder<SqlBool> =>
    sql`exists (select from projects where projects.id = ${sql.ref(`${table}.project_id`)} and ${isUsable(caller, 'feature_flags')})`;

/** Applications may have requested the flags already. */
const follows = (tx: Database, { owner }: Arrival) => raiseVersion(tx, owner.id);

const stamps = { created_at: required('created_at', time), updated_at: required('updated_at', time) };

const userList: RecordKind = {
  table: 'feature_flag_user_lists',
  owner: { project: 'project_id' },
  isVisible: isVisible('feature_flag_user_lists'),
  title: 'name',
  numbered: 'feature_flag_user_lists',
  members: {
    iid: required('iid', integer(1)),
    name: required('name', text(listNameReasons)),
    user_xids: required('user_xids', text(userXidsReasons)),
    ...stamps,
  },
  stays: {},
  distinct: ['name'],
  follows,
};

/** A list as referenced by a strategy. */
const namedList: RecordKind = {
  table: 'feature_flag_user_lists',
  members: { name: column('name', text()) },
  stays: {},
};

async function findLists(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const names = wanted.flatMap(({ name }) => (typeof name === 'string' ? [name] : []));
  const lists = await listsOf(tx, owner.id)
    .where(isAmong('name', names, 'text[]'))
    .execute();
  const ids = new Map(lists.map(({ id, name }) => [name, id]));
  return wanted.map(({ name }) => ids.get(name as string) ?? null);
}

const json: Value = {
  type: 'jsonb',
  arrives: (value) => {
    if (typeof value !== 'object' || Array.isArray(value)) throw new Refusal('is invalid');
    return value;
  },
};

const scope: RecordKind = {
  table: 'feature_flag_scopes',
  members: { environment_scope: required('environment_scope', text(scopeReasons)) },
  stays: {},
  distinct: ['environment_scope'],
};

const strategy: RecordKind = {
  table: 'feature_flag_strategies',
  members: {
    name: required('name', text(strategyReasons)),
    parameters: columnOr('parameters', json, {}),
    user_list: reference('user_list_id', namedList, findLists),
    scopes: parts(scope, 'strategy_id'),
  },
  stays: {},
  refuse: ({ name, parameters }) => parameterReasons(name as string, parameters)[0],
};

const featureFlag: RecordKind = {
  table: 'feature_flags',
  owner: { project: 'project_id' },
  isVisible: isVisible('feature_flags'),
  title: 'name',
  numbered: 'feature_flags',
  members: {
    iid: required('iid', integer(1)),
    name: required('name', text(nameReasons)),
    description: column('description', text(descriptionReasons)),
    active: columnOr('active', flag, true),
    ...stamps,
    strategies: parts(strategy, 'feature_flag_id'),
  },
  stays: {},
  distinct: ['name'],
  follows,
};

/** The user lists of a project, which its flags reference. */
export const featureFlagUserLists: Relation = { name: 'feature_flag_user_lists', kind: userList };

/** The feature flags of a project. */
export const featureFlags: Relation = { name: 'feature_flags', kind: featureFlag };
