/** Complete changes to push rules (docs/reference/push_rules.md). */
import { sql } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import { type Database, stamped } from '../../../db/index.ts';
import { checkExpression, InvalidExpression } from '../../../expressions/index.ts';
import { found, invalid, unprocessable } from '../../../http/index.ts';
import { isMultiline, type RegexName, type RuleChanges, regexNames, ruleNames } from './rules.ts';

async function regexReasons(name: RegexName, source: string): Promise<string[]> {
  try {
    await checkExpression({ source, multiline: isMultiline(name) });
    return [];
  } catch (error) {
    if (error instanceof InvalidExpression) return [`not valid RE2 syntax: ${error.reason}`];
    throw error;
  }
}

/** @throws ApiError 400 with the reasons for refusing expressions, by field */
export async function checkExpressions(changes: RuleChanges): Promise<void> {
  const given = regexNames.flatMap((name) => (changes[name] ? [[name, changes[name]] as const] : []));
  const reasons = await Promise.all(
    given.map(async ([name, source]) => [name, await regexReasons(name, source)] as [string, string[]]),
  );
  const refused = reasons.filter(([, texts]) => texts.length > 0);
  if (refused.length > 0) throw invalid(Object.fromEntries(refused));
}

export const existsTexts = {
  project: 'Project push rule exists',
  group: 'Group push rule exists, try updating',
} as const;

const returned = ['id', 'project_id', 'created_at', ...ruleNames] as const;

/** @throws ApiError 400 for an expression that does not compile, 422 if a rule exists already */
export async function addRule(db: Database, owner: Owner, given: RuleChanges) {
  await checkExpressions(given);
  const row = await db
    .insertInto('push_rules')
    .values({ ...given, ...owner })
    .onConflict((on) => on.doNothing())
    .returning(returned)
    .executeTakeFirst();
  if (!row) throw unprocessable(existsTexts[owner.project_id === null ? 'group' : 'project']);
  return row;
}

/** @throws ApiError 400 for an expression that does not compile, 404 if there is no rule */
export async function changeRule(db: Database, owner: Owner, changes: RuleChanges) {
  await checkExpressions(changes);
  const change = db.updateTable('push_rules').set(stamped(changes));
  const own =
    owner.project_id === null
      ? change.where('group_id', '=', owner.group_id)
      : change.where('project_id', '=', owner.project_id);
  return found('Push rule', await own.returning(returned).executeTakeFirst());
}

/**
 * Copies the rule of the nearest ancestor group that has one to a new project.
 * @param tx the transaction that adds the project
 */
export async function copyTemplate(tx: Database, project: { id: number; namespace_id: number }): Promise<void> {
  const columns = sql.join(ruleNames.map((name) => sql.ref(name)));
  const copied = sql.join(ruleNames.map((name) => sql.ref(`template.${name}`)));
  await sql`
    insert into push_rules (project_id, ${columns})
    select ${project.id}, ${copied} from namespaces place join push_rules template on template.group_id = any(place.traversal_ids)
     where place.id = ${project.namespace_id}
     order by array_position(place.traversal_ids, template.group_id) desc limit 1`.execute(tx);
}
