/** Operations of quick actions that several kinds share. */
import type { Issuable, IssuableKind } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { ApiError } from '../../../http/index.ts';
import type { HookItem } from '../../activity/hooks/index.ts';
import { toggleAward } from '../../conversation/award_emoji/index.ts';
import type { Acting, Operations } from '../../conversation/quick_actions/index.ts';
import { setSubscription } from './subscription_actions.ts';
import { addTimeSpent, resetTimeSpent, setTimeEstimate } from './time/actions.ts';
import { parseDuration } from './time/duration_rules.ts';

/** Operations for the caller only: subscriptions and reactions. */
export const ownOperations = (
  tx: Database,
  { caller }: Acting,
  on: Issuable,
  hook?: HookItem<IssuableKind>,
): Pick<Operations, 'subscribe' | 'toggleAward'> => ({
  subscribe: async (subscribed) => {
    await setSubscription(tx, on, caller.id, subscribed);
  },
  toggleAward: (name) => toggleAward(tx, { ...on, hook }, caller.id, name),
});

/** Time tracking. */
export const timeOperations = (
  tx: Database,
  { caller }: Acting,
  on: Issuable,
): Pick<Operations, 'setTimeEstimate' | 'addTimeSpent' | 'resetTimeSpent'> => ({
  setTimeEstimate: async (duration) => {
    const seconds = duration === null ? 0 : parseDuration(duration);
    if (seconds === undefined || seconds < 0) return undefined;
    await setTimeEstimate(tx, on, caller.id, seconds);
    return seconds;
  },
  addTimeSpent: async ({ duration, spent_on }) => {
    const seconds = parseDuration(duration);
    if (seconds === undefined) return undefined;
    return (await addTimeSpent(tx, on, caller.id, { seconds, spent_on })) ? seconds : undefined;
  },
  resetTimeSpent: () => resetTimeSpent(tx, on, caller.id),
});

/** Whether a quick action succeeded. Its function must refuse before it changes anything. */
export const unlessRefused = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError) return false;
      throw error;
    },
  );
