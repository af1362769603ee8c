/** The triggers that write the audit events of nouns, made of their descriptions (docs/decisions/0184-audit-events-are-written-by-the-database.md). */
import type { AuditedMember, AuditedNoun, EventName } from './definition.ts';

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

const nameIn = (name: EventName) => (typeof name === 'string' ? quoted(name) : `(${name.of})`);

const membersIn = ({ members = {} }: AuditedNoun) => Object.entries(members as Record<string, AuditedMember>);

/** The noun in `add` and `remove`, e.g. `protected_branch`. */
const wordOf = (type: string) =>
  type
    .replaceAll('::', '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, '_')
    .toLowerCase();

const call = (name: EventName, details: string) =>
  typeof name === 'string'
    ? `perform write_audit_event(${quoted(name)}, entity_type, entity_id, entity_path, target_id, target_type, target_details, ${details});`
    : `name := ${nameIn(name)};
    if name is not null then perform write_audit_event(name, entity_type, entity_id, entity_path, target_id, target_type, target_details, ${details}); end if;`;

function detailsOf(column: string, { as = column, says = '$' }: AuditedMember, type: string): string {
  if (says === 'add' || says === 'remove') return `jsonb_build_object(${quoted(says)}, ${quoted(wordOf(type))})`;
  if (says === 'nothing') return `jsonb_build_object('change', ${quoted(as)})`;
  const [from, to] = ['old', 'new'].map((row) => `to_jsonb(${says.replaceAll('$', `${row}.${column}`)}) #>> '{}'`);
  return `jsonb_build_object('change', ${quoted(as)}, 'from', ${from}, 'to', ${to})`;
}

const changed = (column: string) => `old.${column} is distinct from new.${column}`;

/** Writes the events of the members that are not named, one for each that has changed. */
function restOf(noun: AuditedNoun, { event, but, silent }: NonNullable<AuditedNoun['rest']>): string {
  const list = (names: readonly string[]) => `array[${names.map(quoted).join(', ')}]::text[]`;
  const left_out = [...but, ...membersIn(noun).map(([column]) => column)];
  return `  for member in select key from jsonb_each(to_jsonb(new)) where value is distinct from to_jsonb(old)->key and key <> all(${list(left_out)}) loop
    perform write_audit_event(replace(${quoted(event)}, '*', member), entity_type, entity_id, entity_path, target_id, target_type, target_details,
      jsonb_build_object('change', member) || case when member = any(${list(silent)}) then '{}'
        else jsonb_build_object('from', to_jsonb(old)->>member, 'to', to_jsonb(new)->>member) end);
  end loop;`;
}

/** What the database deletes along with something else, and what other triggers do, is a part of that. */
const direct = 'pg_trigger_depth() = 0';

/** The function that writes the events of a noun, and the triggers that call it. */
function triggersOf(noun: AuditedNoun): string {
  const { table, part, type, target, entity, path, only_if, added, removed, rest } = noun;
  const columns = membersIn(noun);
  const entities = Object.entries(entity);
  const kinds = entities.map(([kind, id]) => `when (${id}) is not null then ${quoted(kind)}`).join(' ');
  const writer = part === undefined ? `audit_${table}` : `audit_${table}_${part}`;
  const nameOf = (event: string) => (part === undefined ? `audit_${event}` : `audit_${part}_${event}`);
  const trigger = (event: string, moment: string, when = direct) =>
    `create trigger ${nameOf(event)} ${moment} on ${table} for each row when (${when}) execute function ${writer}();`;
  const lines = [
    `create or replace function ${writer}() returns trigger language plpgsql as $$
#variable_conflict use_column
declare
  it ${table};
  name text;
  entity_type text;
  entity_id bigint;
  entity_path text;
  target_id bigint;
  target_type text := ${quoted(type)};
  target_details text;
  member text;
begin
  if tg_op = 'DELETE' then it := old; else it := new; end if;`,
    only_if && `  if (${only_if}) is not true then return it; end if;`,
    entities.length > 0
      ? `  entity_type := case ${kinds} else 'Gitlab::Audit::InstanceScope' end;`
      : "  entity_type := 'Gitlab::Audit::InstanceScope';",
    `  entity_id := coalesce(${[...entities.map(([, id]) => `(${id})`), '1'].join(', ')});`,
    `  entity_path := ${path ?? 'audit_path(entity_type, entity_id)'};`,
    `  target_id := ${target.id ?? 'it.id'};`,
    `  target_details := ${target.details};`,
    added && `  if tg_op = 'INSERT' then ${call(added, `jsonb_build_object('add', ${quoted(wordOf(type))})`)} end if;`,
    removed &&
      `  if tg_op = 'DELETE' then ${call(removed, `jsonb_build_object('remove', ${quoted(wordOf(type))})`)} end if;`,
    "  if tg_op <> 'UPDATE' then return it; end if;",
    ...columns.map(
      ([column, member]) =>
        `  if ${changed(column)} then\n    ${call(member.event, detailsOf(column, member, type))}\n  end if;`,
    ),
    rest && restOf(noun, rest),
    '  return it;\nend $$;',
    ...['added', 'removed', 'changed'].map((event) => `drop trigger if exists ${nameOf(event)} on ${table};`),
    added && trigger('added', 'after insert'),
    removed && // Before, because what it is about may be found by rows that are deleted along with it.
      trigger('removed', 'before delete'),
    rest
      ? trigger('changed', 'after update', `${direct} and old is distinct from new`)
      : columns.length > 0 &&
        trigger(
          'changed',
          `after update of ${columns.map(([column]) => column).join(', ')}`,
          `${direct} and (${columns.map(([column]) => changed(column)).join(' or ')})`,
        ),
  ];
  return lines.filter((line) => line).join('\n');
}

/** The file `migrations/audited.sql`. */
export const auditTriggers = (nouns: readonly AuditedNoun[]): string =>
  `${[
    '-- Generated by `npm run generate` of the declarations in src/areas/audited.ts: the triggers that write audit events. It runs again whenever it has changed.',
    ...nouns.map(triggersOf),
  ].join('\n\n')}\n`;

/** The file `src/db/audited_tables.ts`. */
export const tableList = (nouns: readonly AuditedNoun[]): string =>
  `// Generated by \`npm run generate\` of the declarations in src/areas/audited.ts: the tables whose changes may be audit events.
${'export'} const auditedTables: readonly string[] = [
${[...new Set(nouns.map(({ table }) => table))].map((table) => `  '${table}',\n`).join('')}];
`;
