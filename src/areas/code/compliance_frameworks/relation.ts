/** How compliance frameworks leave and arrive (docs/reference/relations_export.md#compliance_frameworks). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';
import {
  type Arrival,
  type ArrivingRow,
  column,
  columnOr,
  flag,
  parts,
  type RecordKind,
  type Relation,
  reference,
  required,
  text,
  texts,
  time,
} from '../../../relations/index.ts';
import { onlyRootText } from './access.ts';
import { defaultColor, frameworkReasons } from './rules.ts';

const requirement: RecordKind = {
  table: 'compliance_requirements',
  title: 'name',
  distinct: ['name'],
  members: {
    name: required('name', text()),
    description: column('description', text()),
    controls: required('controls', texts()),
  },
  stays: {},
};

const framework: RecordKind = {
  table: 'compliance_frameworks',
  owner: { group: 'group_id' },
  title: 'name',
  distinct: ['name'],
  members: {
    name: required('name', text()),
    description: required('description', text()),
    color: columnOr('color', text(), defaultColor),
    default: columnOr('is_default', flag, false),
    created_at: required('created_at', time),
    updated_at: required('updated_at', time),
  },
  stays: {},
};

/** @returns why a framework is refused */
function refusalOf({ row, parts: { requirements = [] } }: ArrivingRow): string | undefined {
  const values = row as { name: string; description: string; color: string };
  const given = requirements.map(
    (each) => each.row as { name: string; description: string | null; controls: string[] },
  );
  const [reason] = frameworkReasons({
    ...values,
    requirements: given.map((each) => ({ ...each, controls: each.controls.map((name) => ({ name })) })),
  });
  return reason;
}

async function refused(
  rows: readonly ArrivingRow[],
  { owner }: Arrival,
  tx: Database,
): Promise<Map<ArrivingRow, string>> {
  const { parent_id } = await tx
    .selectFrom('namespaces')
    .select('parent_id')
    .where('id', '=', owner.id)
    .executeTakeFirstOrThrow();
  if (parent_id !== null) return new Map(rows.map((each) => [each, onlyRootText]));
  const reasons = rows.flatMap((each) => {
    const reason = refusalOf(each);
    return reason ? [[each, reason] as const] : [];
  });
  return new Map(reasons);
}

/** The frameworks of a top-level group. */
export const complianceFrameworks: Relation = {
  name: 'compliance_frameworks',
  plan: 'ultimate',
  kind: {
    ...framework,
    members: { ...framework.members, requirements: parts(requirement, 'framework_id') },
    derives: { columns: {}, derive: (rows, arrival, tx) => refused(rows, arrival, tx) },
  },
};

/** The frameworks of these names in the top-level group of a project. */
async function findFrameworks(
  tx: Database,
  { owner }: Arrival,
  wanted: readonly Record<string, unknown>[],
): Promise<(number | null)[]> {
  const { rows } = await sql<{ id: number; name: string }>`
    select framework.id, framework.name from compliance_frameworks framework
      join namespaces place on framework.group_id = place.traversal_ids[1] join projects on projects.namespace_id = place.id
     where projects.id = ${owner.id}`.execute(tx);
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  return wanted.map(({ name }) => ids.get(String(name)) ?? null);
}

const { name } = framework.members;

/** The frameworks of a project, by name. */
export const projectFrameworks: Relation = {
  name: 'compliance_frameworks',
  plan: 'ultimate',
  kind: {
    table: 'project_compliance_frameworks',
    owner: { project: 'project_id' },
    is_link: true,
    identity: 'framework_id',
    distinct: ['framework_id'],
    members: {
      framework: {
        ...reference('framework_id', { ...framework, members: { name: name! } }, findFrameworks),
        is_required: true,
      },
    },
    stays: {},
  },
};
