/** Custom attributes as filters and fields of lists (docs/reference/custom_attributes.md#lists). */
import { type RawBuilder, sql } from 'kysely';
import { type Static, Type } from 'typebox';
import type { MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { checked, optional, resource } from '../../../http/index.ts';

/** The kinds of owners, with the column that refers to them. */
export const owners = { user: 'user_id', group: 'group_id', project: 'project_id' } as const;
export type Owner = keyof typeof owners;
const tables = { user: 'users', group: 'namespaces', project: 'projects' } as const;

export const CustomAttribute = resource('CustomAttribute', { key: Type.String(), value: Type.String() });

/** The maximum number of attributes of an owner, and thus of attributes in a filter. */
export const maximumAttributes = 100;

/** The filter parameters of lists; ignored unless the caller is an administrator. */
export const attributeFilters = {
  custom_attributes: optional(
    checked(
      Type.Record(Type.String(), Type.String(), {
        description: 'Values by key, all of which must match; administrators only, ignored for others',
      }),
      (wanted) => (Object.keys(wanted).length > maximumAttributes ? [`has more than ${maximumAttributes} keys`] : []),
    ),
  ),
};

/** The parameter of lists and single replies that shows the attributes. */
export const attributeForm = {
  with_custom_attributes: Type.Boolean({
    default: false,
    description: 'Whether to include `custom_attributes`; administrators only, ignored for others',
  }),
};

/** The field that administrators see on request. */
export const attributeMember = {
  custom_attributes: optional(
    Type.Array(CustomAttribute, { description: 'Administrators only, with `with_custom_attributes=true`' }),
  ),
};

/** A predicate on rows of the owners' table: they have all requested attributes, if the caller is an administrator. */
export function withAttributes(
  owner: Owner,
  caller: MaybeCaller,
  { custom_attributes }: { custom_attributes?: Readonly<Record<string, string>> | undefined },
): RawBuilder<boolean> {
  if (!caller?.admin || custom_attributes === undefined) return sql`true`;
  const owned = sql.ref(owners[owner]);
  const conditions = Object.entries(custom_attributes).map(
    ([key, value]) => sql`${sql.ref(`${tables[owner]}.id`)} in (
      select ${owned} from custom_attributes
       where key = ${key} and md5(value) = md5(${value}) and value = ${value} and ${owned} is not null)`,
  );
  return conditions.length === 0 ? sql`true` : sql`(${sql.join(conditions, sql` and `)})`;
}

type Attributes = Static<typeof CustomAttribute>[];

/** Adds the attributes to replies in one statement, if an administrator requests them. */
export async function showAttributes<Shown extends { id: number }>(
  db: Database,
  owner: Owner,
  { caller, input }: { caller: MaybeCaller; input: { with_custom_attributes: boolean } },
  shown: readonly Shown[],
): Promise<(Shown & { custom_attributes?: Attributes })[]> {
  if (!caller?.admin || !input.with_custom_attributes) return [...shown];
  const column = owners[owner];
  const ids = shown.map(({ id }) => id);
  const rows = await db
    .selectFrom('custom_attributes')
    .select(['key', 'value', column])
    .where(column, '=', sql<number>`any(${ids}::bigint[])`)
    .orderBy('key')
    .execute();
  const byOwner = Map.groupBy(rows, (row) => row[column]);
  return shown.map((one) => ({
    ...one,
    custom_attributes: (byOwner.get(one.id) ?? []).map(({ key, value }) => ({ key, value })),
  }));
}
