/** Resolves names in filters before the list is read: PostgreSQL plans well for ids whose frequency it knows, and badly for subqueries. */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, ofAnyLength } from '../../../db/index.ts';
import { containing } from '../../../http/index.ts';

export interface NamesAsked {
  /** Titles; with `wildcards`, `scope::*` matches all labels of the scope. */
  labels: readonly string[];
  milestones: readonly string[];
  usernames: readonly string[];
}

/** A label with its priority in its project; null without one, and for group labels, whose priority differs between projects. */
export interface NamedLabel {
  id: number;
  priority: number | null;
}

export interface NamedMilestone {
  id: number;
  due_date: string | null;
}

export interface Names {
  labels(title: string): readonly NamedLabel[];
  milestones(title: string): readonly NamedMilestone[];
  user(username: string): number | undefined;
}

interface View {
  /** A predicate on rows that belong to a project or a group: the listed items may have them. */
  isNear: RawBuilder<SqlBool>;
  /** Whether `scope::*` is a wildcard instead of a title. */
  wildcards: boolean;
}

const scopeWanted = (title: string, { wildcards }: View) =>
  wildcards && title.endsWith('::*') && title.length > 3 ? title.slice(0, -1) : undefined;

/** The pattern for titles in `scope::`, and the pattern to exclude: with another `::` after it, the scope is a longer one. */
function patternsOf(scope: string): { inside: string; deeper: string } {
  const start = containing(scope).slice(1, -1);
  return { inside: `${start}_%`, deeper: `${start}%::_%` };
}

async function labelsNamed(db: Database, titles: readonly string[], view: View): Promise<Map<string, NamedLabel[]>> {
  if (titles.length === 0) return new Map();
  const scoped = titles.flatMap((wanted) => {
    const scope = scopeWanted(wanted, view);
    return scope === undefined ? [] : { wanted, ...patternsOf(scope) };
  });
  const own = sql`(select priority from label_priorities own where own.label_id = labels.id and own.project_id = labels.project_id)`;
  const ofScopes = sql`
    union all
    select id, wanted, ${own} from unnest(${scoped.map(({ wanted }) => wanted)}::text[], ${scoped.map(({ inside }) => inside)}::text[],
                                  ${scoped.map(({ deeper }) => deeper)}::text[]) scopes(wanted, inside, deeper)
      join labels on title like inside and title not like deeper where ${view.isNear}`;
  const { rows } = await sql<NamedLabel & { wanted: string }>`
    select id, title as wanted, ${own} as priority from labels where title = any(${ofAnyLength(titles, 'text[]')}) and ${view.isNear}
    ${scoped.length > 0 ? ofScopes : sql``}`.execute(db);
  return Map.groupBy(rows, ({ wanted }) => wanted);
}

async function milestonesNamed(
  db: Database,
  titles: readonly string[],
  view: View,
): Promise<Map<string, NamedMilestone[]>> {
  if (titles.length === 0) return new Map();
  const { rows } = await sql<NamedMilestone & { title: string }>`
    select id, title, due_date::text from milestones where title = any(${ofAnyLength(titles, 'text[]')}) and ${view.isNear}`.execute(
    db,
  );
  return Map.groupBy(rows, ({ title }) => title);
}

async function userIds(db: Database, usernames: readonly string[]): Promise<Map<string, number>> {
  if (usernames.length === 0) return new Map();
  const { rows } = await sql<{ id: number; username: string }>`
    select id, lower(username::text) as username from users where username = any(${ofAnyLength(usernames, 'citext[]')})`.execute(
    db,
  );
  return new Map(rows.map(({ id, username }) => [username, id]));
}

/** Looks up names, with one statement per kind that occurs. */
export async function namesFor(db: Database, asked: NamesAsked, view: View): Promise<Names> {
  const labels = await labelsNamed(db, [...new Set(asked.labels)], view);
  const milestones = await milestonesNamed(db, asked.milestones, view);
  const users = await userIds(db, asked.usernames);
  return {
    labels: (title) => labels.get(title) ?? [],
    milestones: (title) => milestones.get(title) ?? [],
    user: (username) => users.get(username.toLowerCase()),
  };
}
