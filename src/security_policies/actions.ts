/** What policies do: the approvals that they require, and whether a bot says so. */
import {
  attribute,
  boolean,
  integerWithin,
  mapped,
  type Parsed,
  record,
  type Shape,
} from '../ci_configuration/shapes/shape.ts';
import { isMapping } from '../ci_configuration/values.ts';
import { isGiven, listOf, numbered, word } from './lists.ts';

/** The most approvers of a kind that an action names. */
const maximumApprovers = 300;
const maximumDemands = 5;

/** An id of a row. */
export const id = integerWithin(1, Number.MAX_SAFE_INTEGER, 'should be an ID');

const levels = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const;
export type LevelName = (typeof levels)[number];

/** The name of a level, or the id of a member role. */
const role: Shape<LevelName | number> = (value, at) => {
  if (typeof value === 'number') return id(value, at);
  return (
    levels.find((level) => level === value) ??
    at.fault(`should be the ID of a member role or one of: ${levels.join(', ')}`)
  );
};

const kindName = { type: attribute(word) };

const approverMembers = {
  user_approvers: attribute(listOf(word, maximumApprovers)),
  user_approvers_ids: attribute(listOf(id, maximumApprovers)),
  group_approvers: attribute(listOf(word, maximumApprovers)),
  group_approvers_ids: attribute(listOf(id, maximumApprovers)),
  role_approvers: attribute(listOf(role, maximumApprovers)),
};
const approverNames = Object.keys(approverMembers) as (keyof typeof approverMembers)[];

const demandShape = record(
  {
    ...kindName,
    approvals_required: attribute(integerWithin(1, 100, 'should be a number from 1 to 100')),
    ...approverMembers,
  },
  ['approvals_required'],
);

/** Approvals that a policy requires. */
export type ApprovalDemand = Required<Parsed<typeof approverMembers>> & { approvals_required: number };

const demand: Shape<{ demand: ApprovalDemand }> = (value, at) => {
  const read = demandShape(value, at);
  if (read?.approvals_required === undefined || !isMapping(value)) return undefined;
  if (approverNames.some((name) => isGiven(value, name) && read[name] === undefined)) return undefined;
  const approvers = Object.fromEntries(approverNames.map((name) => [name, read[name] ?? []])) as unknown as Required<
    Parsed<typeof approverMembers>
  >;
  const people = new Set([...approvers.user_approvers, ...approvers.user_approvers_ids]).size;
  const open =
    approvers.group_approvers.length + approvers.group_approvers_ids.length + approvers.role_approvers.length;
  if (people + open === 0) return at.fault('names no approvers');
  // What nobody can ever approve would lock each project, that of the policy among them.
  if (open === 0 && people < read.approvals_required)
    return at.fault(`requires ${read.approvals_required} approvals and names ${people} approvers`);
  return { demand: { ...approvers, approvals_required: read.approvals_required } };
};

const messageShape = record({ ...kindName, enabled: attribute(boolean) }, ['enabled']);
const message: Shape<Action> = (value, at) => {
  const read = messageShape(value, at);
  return read && { tells: read.enabled === true };
};

interface Action {
  demand?: ApprovalDemand;
  /** Whether a bot says on merge requests what is asked for. */
  tells?: boolean;
}

const kinds: Readonly<Record<string, Shape<Action>>> = {
  require_approval: demand,
  send_bot_message: message,
};

const action: Shape<Action> = (value, at) => {
  if (!isMapping(value)) return at.fault('should be a hash');
  const type = value.get('type');
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type))
    return at.attribute('type').fault(`should be one of: ${Object.keys(kinds).join(', ')}`);
  return kinds[type]!(value, at);
};

/** What a policy does. */
export interface Actions {
  demands: readonly ApprovalDemand[];
  tells: boolean;
}

/** The `actions` of a policy. */
export const actions: Shape<Actions> = mapped(numbered(action, maximumDemands + 1), (read, at) => {
  const demands = read.flatMap((each) => each.demand ?? []);
  return demands.length > maximumDemands
    ? at.fault(`has too many require_approval (maximum ${maximumDemands})`)
    : { demands, tells: read.some(({ tells }) => tells) };
});
