/** The direct members of an entity with accounts here. */
import { levels } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { ApiError, textOf } from '../../../../http/index.ts';
import { actorNow, addMembers, isLocked, lockedSource, refusalText } from '../../../spaces/members/index.ts';
import { keepMemberships } from '../../placeholders/actions.ts';
import { inStep, type Progress, record } from '../journal_actions.ts';
import { isRecord, listed, pathAtSource, SourceFailure } from '../source/queries.ts';
import { creationIn } from '../source/self_queries.ts';
import { ownerOf, type Step, type StepCall, type StepFailure } from '../step_definition.ts';
import { personText } from './people_actions.ts';
import { describePeople, type ListedPerson, usersOf } from './people_queries.ts';

interface SourceMember extends ListedPerson {
  access_level: unknown;
  expires_at: string | null;
  created_at?: string;
  /** Whether they have a custom role, which is not copied. */
  has_role: boolean;
}

const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0;
const isDay = (value: unknown): value is string => typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value);

/** The maximum number of members that a source may list. */
const maximumMembers = 100_000;
/** The number of members added in one transaction. */
const membersAtOnce = 100;

/** Whether it is the bot user of a project or group access token: neither bots nor tokens are copied. */
const isBot = (username: unknown) =>
  typeof username === 'string' && /^(?:project|group)_\d+_bot(?:_\w+|\d*)$/.test(username);

/** The current memberships of people. */
async function membersOf({ source, entity }: StepCall): Promise<SourceMember[]> {
  const members: SourceMember[] = [];
  const today = new Date().toISOString().slice(0, 10);
  for await (const member of listed(source, `${pathAtSource(entity)}/members`)) {
    const { id, username, name, access_level, expires_at } = member;
    if (!isId(id) || (isDay(expires_at) && expires_at <= today) || isBot(username)) continue;
    if (members.length === maximumMembers)
      throw new SourceFailure('LimitExceeded', `The source lists more than ${maximumMembers} members.`);
    members.push({
      source_id: id,
      username: personText(username),
      name: personText(name),
      access_level,
      expires_at: isDay(expires_at) ? expires_at : null,
      has_role: isRecord(member.member_role),
      ...creationIn(member),
    });
  }
  return members;
}

const failure = (exception_class: string, message: string, { name }: SourceMember): StepFailure => ({
  relation: 'members',
  step: 'loader',
  exception_class,
  message,
  title: name,
  url: null,
});

const roleRelation = 'members, member_role';

const given = new Set<unknown>([
  levels.minimal,
  levels.guest,
  levels.planner,
  levels.reporter,
  levels.developer,
  levels.maintainer,
  levels.owner,
]);

const placeOf = ({ entity }: StepCall) => {
  const { kind, id } = ownerOf(entity);
  return kind === 'project' ? { project_id: id } : { group_id: id };
};

/** Adds one member. @returns the failure, if there is one */
async function add(
  tx: Database,
  call: StepCall,
  member: SourceMember,
  user_id: number,
): Promise<StepFailure | undefined> {
  const { kind, id } = ownerOf(call.entity);
  const subtree = placeOf(call);
  const { access_level: wanted, expires_at, created_at } = member;
  if (!given.has(wanted)) return failure('InvalidRecord', `There is no access level ${String(wanted)}.`, member);
  const actor = await actorNow(tx, { kind, id }, call.migration.user_id);
  if (!actor || (await isLocked(tx, await lockedSource(tx, subtree))))
    return failure('PermissionDenied', 'The importer may not add members.', member);
  const access_level = Math.min(wanted as number, actor.access_level);
  try {
    const refusals = await addMembers(tx, subtree, actor, {
      user_ids: [user_id],
      access_level,
      expires_at,
      created_at,
      existing: 'refuse',
      is_quiet: true,
    });
    const refusal = refusals.get(user_id);
    // Existing members, such as the importer of a new group, are not changed; a higher inherited level wins.
    if (refusal === undefined || refusal === 'exists') return undefined;
    return failure('PermissionDenied', refusalText(refusal, actor), member);
  } catch (error) {
    if (error instanceof ApiError) return failure('PermissionDenied', textOf(error), member);
    throw error;
  }
}

/** Adds some members, and stores the memberships of people without an account here. */
async function addSome(tx: Database, call: StepCall, members: readonly SourceMember[]): Promise<Progress> {
  const source_ids = members.map(({ source_id }) => source_id);
  const { people, accounts } = await usersOf(tx, call, source_ids);
  const failures: StepFailure[] = [];
  for (const member of members) {
    const user_id = accounts.get(member.source_id);
    const failed = user_id
      ? await add(tx, call, member, user_id)
      : failure('UserNotFound', 'There is no account here.', member);
    if (failed) failures.push(failed);
  }
  const kept = members.filter(({ source_id, access_level }) => !accounts.has(source_id) && given.has(access_level));
  await keepMemberships(
    tx,
    placeOf(call),
    kept.map(({ source_id, access_level, expires_at }) => ({
      user_id: people.get(source_id)!,
      access_level: access_level as number,
      expires_at,
    })),
  );
  const roles = members
    .filter(({ has_role, source_id }) => has_role && accounts.has(source_id))
    .map((member) => ({
      ...failure('InvalidRecord', 'The custom role is left out: the level that it is based on counts.', member),
      relation: roleRelation,
    }));
  const counts = {
    members: { fetched: members.length, imported: members.length - failures.length },
    ...(roles.length > 0 && { [roleRelation]: { fetched: roles.length, imported: 0 } }),
  };
  return { counts, failures: [...failures, ...roles] };
}

export const membersStep: Step = {
  name: 'members',
  async run(call) {
    const { db, entity, step } = call;
    if (!entity.migrate_memberships) return 'skipped';
    const members = await membersOf(call);
    await inStep(db, step.id, (tx, row) => record(tx, call, row, { source: members.length }));
    for (let line = step.line; line < members.length; line += membersAtOnce) {
      if (call.isOverdue()) return { wait_s: 0 };
      const some = members.slice(line, line + membersAtOnce);
      await describePeople(call, some);
      await inStep(db, step.id, async (tx, row) =>
        record(tx, call, row, { ...(await addSome(tx, call, some)), line: line + some.length }),
      );
    }
    return 'finished';
  },
};
