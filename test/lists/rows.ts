/** Random issues, merge requests and epics, with many ties and many empty columns. */
import type { Random } from '../support/random.ts';
import type { Place } from './places.ts';
import { dayFromNow, type Iteration, type Label, type Milestone, type Plans } from './plans.ts';

/** What issues, merge requests and epics have in common. Those that cannot have people or a milestone have none. */
export interface Row {
  id: number;
  iid: number;
  place: Place;
  title: string;
  description: string | null;
  state: string;
  author_id: number | null;
  confidential: boolean;
  /** With microseconds. */
  created_at: string;
  updated_at: string;
  labels: readonly Label[];
  reactions: readonly { user_id: number; name: string }[];
  assignees: readonly number[];
  reviewers: readonly number[];
  approvals: readonly number[];
  /** Whom an approval rule of it names. */
  named: readonly number[];
  milestone: Milestone | null;
  iteration: Iteration | null;
  epic: Row | null;
  due_date: string | null;
  weight: number | null;
  relative_position: number | null;
  health_status: string | null;
  issue_type: string;
  closed_by_id: number | null;
  source_branch: string;
  target_branch: string;
  /** The project of the source branch. */
  source: Place | null;
  merge_user_id: number | null;
  merged_at: string | null;
}

export type Kind = 'issue' | 'merge_request' | 'epic';

/** What rows are drawn from. */
export interface Stock {
  users: readonly number[];
  plans: Plans;
  epics: readonly Row[];
  projects: readonly Place[];
}

const words = ['apple', 'Banana', 'cherry', 'apple pie', 'Zebra', 'ox', '50% off', '500 off'];
const states: Record<Kind, readonly string[]> = {
  issue: ['opened', 'closed'],
  epic: ['opened', 'closed'],
  merge_request: ['opened', 'opened', 'closed', 'merged', 'locked'],
};

/** A moment in milliseconds, and one in the same millisecond. */
export const moment = (random: Random) => new Date(Date.UTC(2020, 0, 1 + random.below(40))).toISOString();
const inMoment = (random: Random) => moment(random).replace('Z', random.of(['000Z', '400Z']));

/** Draws a row, without its id. */
export function drawn(random: Random, kind: Kind, place: Place, iid: number, stock: Stock): Row {
  const { users, plans, epics, projects } = stock;
  const maybe = <T>(percent: number, value: () => T): T | null => (random.happens(percent) ? value() : null);
  const some = <T>(list: readonly T[], percent: number) => list.filter(() => random.happens(percent));
  const near = [...new Set([place.id, ...place.groups])];
  const isDraft = kind === 'merge_request' && random.happens(10);
  const state = random.of(states[kind]);
  const labels = near.flatMap((id) => plans.labels.get(id) ?? []);
  const chances: Record<string, number> = { many: 60, rare: 1 };
  const [labelled, people] = [random.happens(95), (percent: number) => some(users, percent)];
  return {
    id: 0,
    iid,
    place,
    title: `${isDraft ? 'Draft: ' : ''}${random.of(words)}`,
    description: maybe(50, () => random.of([...words, `${random.of(words)} and ${random.of(words)}`])),
    state,
    author_id: maybe(97, () => random.of(users)),
    confidential: kind !== 'merge_request' && random.happens(15),
    created_at: inMoment(random),
    updated_at: inMoment(random),
    labels: labelled ? labels.filter(({ title }) => random.happens(chances[title] ?? 12)) : [],
    reactions: people(4).flatMap((user_id) => some(['thumbsup', 'rocket'], 60).map((name) => ({ user_id, name }))),
    assignees: kind === 'epic' ? [] : people(20),
    reviewers: kind === 'merge_request' ? people(20) : [],
    approvals: kind === 'merge_request' ? people(15) : [],
    named: kind === 'merge_request' && random.happens(8) ? people(50) : [],
    milestone: kind === 'epic' ? null : maybe(60, () => random.of(near.flatMap((id) => plans.milestones.get(id)!))),
    iteration: kind === 'issue' ? maybe(30, () => random.of(plans.iterations)) : null,
    epic: kind === 'issue' ? maybe(15, () => random.of(epics)) : null,
    due_date: maybe(30, () => dayFromNow(random.below(100) - 50)),
    weight: maybe(40, () => random.below(4)),
    relative_position: maybe(60, () => random.below(50)),
    health_status: maybe(10, () => random.of(['on_track', 'needs_attention', 'at_risk'])),
    issue_type: random.happens(10) ? random.of(['incident', 'task', 'test_case']) : 'issue',
    closed_by_id: state === 'closed' ? maybe(80, () => random.of(users)) : null,
    source_branch: random.happens(90) ? `topic-${iid}` : random.of(['one', 'two']) + iid,
    target_branch: random.happens(90) ? 'main' : 'stable',
    source: random.happens(90) ? place : maybe(70, () => random.of(projects)),
    merge_user_id: state === 'merged' ? maybe(90, () => random.of(users)) : null,
    merged_at: state === 'merged' ? moment(random) : null,
  };
}
