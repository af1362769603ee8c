/** The quick actions that only merge requests have (docs/reference/quick_actions.md). */
import {
  type Definition,
  kept,
  mentions,
  namedUsers,
  type Situation,
  usersOf,
} from '../../conversation/quick_actions/index.ts';
import { isDraft, withoutDraft } from './rules.ts';

/** The title after the commands. */
const titleAfter = ({ before, changes }: Situation) => changes.title ?? before.title;

/** The maximum length of a title, in characters. */
const maximumTitle = 255;

function setDraft(situation: Situation, draft: boolean): string | undefined {
  const title = titleAfter(situation);
  const wanted = draft ? `Draft: ${title}` : withoutDraft(title);
  if (isDraft(title) === draft || wanted === '' || [...wanted].length > maximumTitle) return undefined;
  situation.changes.title = wanted;
  situation.commands_changes.wip_event = draft ? 'draft' : 'ready';
  return draft ? 'Marked this merge request as a draft.' : 'Marked this merge request as ready.';
}

export const draftCommands: readonly Definition[] = [
  { names: ['draft'], needs: 'edit', apply: (situation) => setDraft(situation, true) },
  { names: ['ready'], needs: 'edit', apply: (situation) => setDraft(situation, false) },
];

/** The most reviewers. */
const maximumReviewers = 200;

/** The reviewers after the commands. */
const reviewersAfter = ({ before, changes }: Situation): number[] => changes.reviewer_ids ?? before.reviewer_ids;

function setReviewers({ changes, commands_changes }: Situation, ids: readonly number[]): boolean {
  const reviewers = [...new Set(ids)];
  if (reviewers.length > maximumReviewers) return false;
  changes.reviewer_ids = reviewers;
  commands_changes.reviewer_ids = reviewers;
  return true;
}

async function assignReviewers(situation: Situation, argument: string) {
  const users = kept(situation, await namedUsers(situation, argument));
  const ids = users.map(({ id }) => id);
  const present = situation.plan === 'free' ? [] : reviewersAfter(situation);
  if (users.length === 0 || !setReviewers(situation, [...present, ...ids])) return undefined;
  return ids;
}

export const reviewerCommands: readonly Definition[] = [
  {
    names: ['assign_reviewer', 'reviewer'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const ids = await assignReviewers(situation, argument);
      return (
        ids && `Assigned ${mentions(await usersOf(situation, ids))} as ${ids.length === 1 ? 'reviewer' : 'reviewers'}.`
      );
    },
  },
  {
    names: ['request_review'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const ids = await assignReviewers(situation, argument);
      if (!ids) return undefined;
      situation.changes.review_again_ids = [...(situation.changes.review_again_ids ?? []), ...ids];
      return `Requested a review from ${mentions(await usersOf(situation, ids))}.`;
    },
  },
  {
    names: ['reassign_reviewer'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const users = kept(situation, await namedUsers(situation, argument));
      const ids = users.map(({ id }) => id);
      return users.length > 0 && setReviewers(situation, ids)
        ? `Changed the reviewers to ${mentions(users)}.`
        : undefined;
    },
  },
  {
    names: ['unassign_reviewer', 'remove_reviewer'],
    needs: 'plan',
    apply: async (situation, argument) => {
      const present = reviewersAfter(situation);
      if (present.length === 0) return undefined;
      const named = argument === '' ? await usersOf(situation, present) : await namedUsers(situation, argument);
      const users = named.filter(({ id }) => present.includes(id));
      if (users.length === 0) return undefined;
      const removed = users.map(({ id }) => id);
      setReviewers(
        situation,
        present.filter((id) => !removed.includes(id)),
      );
      return `Removed ${users.length === 1 ? 'reviewer' : 'reviewers'} ${mentions(users)}.`;
    },
  },
];

export const branchCommands: readonly Definition[] = [
  {
    names: ['target_branch'],
    needs: 'edit',
    apply: ({ changes, commands_changes }, argument) => {
      if (argument === '') return undefined;
      changes.target_branch = argument;
      commands_changes.target_branch = argument;
      return `Set target branch to ${argument}.`;
    },
  },
];

const done = async (work: Promise<boolean> | undefined, said: string) => ((await work) ? said : undefined);

/** The verdicts of a review besides its comments. An approval is applied after them. */
const verdicts = {
  '': 'reviewed',
  reviewed: 'reviewed',
  requested_changes: 'requested_changes',
  approve: undefined,
} as const;
const isVerdict = (text: string): text is keyof typeof verdicts => Object.hasOwn(verdicts, text);

async function submitReview({ operations }: Situation, argument: string): Promise<string | undefined> {
  if (!isVerdict(argument)) return undefined;
  const approves = argument === 'approve';
  const isSubmitted = (await operations.submitReview?.(verdicts[argument])) ?? false;
  const isApproved = approves && ((await operations.approve?.(true)) ?? false);
  if (!isSubmitted && !isApproved) return undefined;
  const said = 'Submitted the current review.';
  if (!approves) return said;
  return `${said} ${isApproved ? 'Approved' : 'Failed to approve'} the current merge request.`;
}

/** These commands check the rules of their endpoints, which differ from those of edits. */
export const mergeCommands: readonly Definition[] = [
  {
    names: ['approve'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }) =>
      () =>
        done(operations.approve?.(true), 'Approved the current merge request.'),
  },
  {
    names: ['unapprove'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }) =>
      () =>
        done(operations.approve?.(false), 'Unapproved the current merge request.'),
  },
  {
    names: ['request_changes'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }) =>
      () =>
        done(operations.requestChanges?.(), 'Changes requested to the current merge request.'),
  },
  {
    names: ['submit_review'],
    needs: 'read',
    existing: true,
    apply: (situation, argument) => () => submitReview(situation, argument),
  },
  {
    names: ['merge'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }) =>
      () =>
        done(operations.merge?.(), 'Scheduled to merge this merge request.'),
  },
  {
    names: ['rebase'],
    needs: 'read',
    existing: true,
    apply:
      ({ operations }) =>
      () =>
        done(operations.rebase?.(), 'Scheduled a rebase of the source branch.'),
  },
];
