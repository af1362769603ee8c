/** Complete changes to protections of environments. */
import { sql } from 'kysely';
import { knownIn, knownInGroup } from '../../../access/index.ts';
import { type Database, isUniqueViolation, ofAnyLength } from '../../../db/index.ts';
import { ApiError, found } from '../../../http/index.ts';
import { isOf, type ProtectionOwner } from './present.ts';
import type { Grantee } from './rules.ts';

/** A rule in a request: a new rule, a change of the rule with this id, or its removal. */
export interface RuleChange extends Grantee {
  purpose: 'deploy' | 'approve';
  id?: number | undefined;
  ends: boolean;
  group_inheritance_type?: number | undefined;
  required_approvals?: number | undefined;
}

const labels = { deploy: 'Deploy access levels', approve: 'Approval rules' };
export const ruleTexts = {
  user: 'user is not a member of the project',
  group: 'group does not have access to the project',
  none: "Deploy access levels can't be blank",
  twice: 'Rules name a user, group or access level twice',
};

const refused = (texts: readonly string[]) => new ApiError(422, { message: texts });

/** @throws ApiError 422 for users and groups without a relation to the project or group */
async function refuseStrangers(tx: Database, owner: ProtectionOwner, rules: readonly RuleChange[]): Promise<void> {
  const asked = {
    user_ids: rules.flatMap(({ user_id }) => user_id ?? []),
    group_ids: rules.flatMap(({ group_id }) => group_id ?? []),
  };
  if (asked.user_ids.length + asked.group_ids.length === 0) return;
  const { users, groups } = await ('project_id' in owner
    ? knownIn(tx, owner.project_id, asked)
    : knownInGroup(tx, owner.group_id, asked));
  const texts = rules.flatMap(({ purpose, user_id, group_id }) => {
    if (user_id !== null && !users.has(user_id)) return `${labels[purpose]} ${ruleTexts.user}`;
    if (group_id !== null && !groups.has(group_id)) return `${labels[purpose]} ${ruleTexts.group}`;
    return [];
  });
  if (texts.length > 0) throw refused([...new Set(texts)]);
}

/** @throws ApiError 422 if two rules name the same grantee */
async function writeRules(tx: Database, protected_environment_id: number, rules: readonly RuleChange[]): Promise<void> {
  const [there, added] = [rules.filter(({ id }) => id !== undefined), rules.filter(({ id }) => id === undefined)];
  try {
    await sql`
      update protected_environment_rules rule
         set access_level = given.access_level, user_id = given.user_id, group_id = given.group_id,
             group_inheritance_type = coalesce(given.group_inheritance_type, rule.group_inheritance_type),
             required_approvals = coalesce(given.required_approvals, rule.required_approvals)
        from jsonb_to_recordset(${JSON.stringify(there)}::jsonb)
             as given (id bigint, access_level integer, user_id bigint, group_id bigint, group_inheritance_type integer, required_approvals integer)
       where rule.id = given.id and rule.protected_environment_id = ${protected_environment_id}`.execute(tx);
    if (added.length > 0)
      await tx
        .insertInto('protected_environment_rules')
        .values(
          added.map(({ id: _id, ends: _ends, ...rule }) => ({
            ...rule,
            group_inheritance_type: rule.group_inheritance_type ?? 0,
            required_approvals: rule.required_approvals ?? 1,
            protected_environment_id,
          })),
        )
        .execute();
  } catch (error) {
    if (isUniqueViolation(error)) throw refused([ruleTexts.twice]);
    throw error;
  }
}

/**
 * Protects an environment of a project, or a tier in a group.
 * @param tx a transaction
 * @throws ApiError 409 if it is protected already, 422 for invalid rules
 */
export async function protectEnvironment(
  tx: Database,
  owner: ProtectionOwner,
  { name, rules }: { name: string; rules: readonly RuleChange[] },
): Promise<void> {
  if (!rules.some(({ purpose }) => purpose === 'deploy')) throw refused([ruleTexts.none]);
  await refuseStrangers(tx, owner, rules);
  const added = await tx
    .insertInto('protected_environments')
    .values({ ...owner, name })
    .onConflict((conflicts) => conflicts.constraint('protected_environments_name_key').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!added) throw new ApiError(409, { message: `409 Conflict: Environment '${name}' is already protected` });
  await writeRules(tx, added.id, rules);
}

/** The protection, locked until the transaction ends. */
async function locked(tx: Database, owner: ProtectionOwner, name: string): Promise<number> {
  const query = tx.selectFrom('protected_environments').select('id').where(isOf(owner)).where('name', '=', name);
  return found(undefined, await query.forUpdate().executeTakeFirst()).id;
}

/**
 * Changes the rules of a protection.
 * @param tx a transaction
 * @throws ApiError 404 for an unknown protection or rule, 422 for invalid rules
 */
export async function changeEnvironmentProtection(
  tx: Database,
  owner: ProtectionOwner,
  { name, rules }: { name: string; rules: readonly RuleChange[] },
): Promise<void> {
  const id = await locked(tx, owner, name);
  const there = await tx
    .selectFrom('protected_environment_rules')
    .select(['id', 'purpose', 'access_level', 'user_id', 'group_id'])
    .where('protected_environment_id', '=', id)
    .execute();
  const lasting = rules
    .filter(({ ends }) => !ends)
    .map((change) => {
      if (change.id === undefined) return change;
      const { access_level, user_id, group_id } = ruleNamed(there, change);
      const isGiven = change.access_level !== null || change.user_id !== null || change.group_id !== null;
      // A change of the number alone keeps the grantee.
      return isGiven ? change : { ...change, access_level, user_id, group_id };
    });
  const ended = rules.filter(({ ends }) => ends).map((change) => ruleNamed(there, change).id);
  await refuseStrangers(tx, owner, lasting);
  await sql`delete from protected_environment_rules where id = any(${ofAnyLength(ended, 'bigint[]')})`.execute(tx);
  await writeRules(tx, id, lasting);
  const left = tx
    .selectFrom('protected_environment_rules')
    .select('id')
    .where('protected_environment_id', '=', id)
    .where('purpose', '=', 'deploy');
  if (!(await left.limit(1).executeTakeFirst())) throw refused([ruleTexts.none]);
  await tx.updateTable('protected_environments').set({ updated_at: sql`now()` }).where('id', '=', id).execute();
}

const ruleNamed = <R extends { id: number; purpose: string }>(there: readonly R[], { id, purpose }: RuleChange): R =>
  found(
    undefined,
    there.find((rule) => rule.id === id && rule.purpose === purpose),
  );

/**
 * Removes a protection.
 * @throws ApiError 404
 */
export async function unprotectEnvironment(tx: Database, owner: ProtectionOwner, name: string): Promise<void> {
  const id = await locked(tx, owner, name);
  await tx.deleteFrom('protected_environments').where('id', '=', id).execute();
}
