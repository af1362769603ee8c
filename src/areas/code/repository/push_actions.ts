/** The checks of a push before git moves a reference, and its effects afterwards, for all protocols and owners. */
import { refusedByMove } from '../../../db/index.ts';
import type { PushRules } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import type { GitAccess } from './definition.ts';
import { announceUpdates, refsChanged, sealedOptions, withdrawUpdates } from './moving/actions.ts';

/** The log for errors of a push. */
export interface PushLog {
  error(what: { err: unknown }, message: string): void;
}

/**
 * The checks and effects of a push.
 * @returns the rules for `receivePack`, and a function to call after git has ended
 */
export function pushRulesFor(services: Services, granted: GitAccess & { caller: Caller }, log: PushLog) {
  const { kind, owner, caller } = granted;
  let row: number | undefined;
  const rules: PushRules = {
    async check(push) {
      const refusals = await granted.refusals(push);
      if (refusals.length > 0) return refusals;
      try {
        row = await announceUpdates(services.db, { kind, owner, user_id: caller.id }, push.updates);
        return [];
      } catch (error) {
        const text = refusedByMove(error);
        if (text === undefined) throw error;
        return [text];
      }
    },
    async moved(updates, given) {
      // Otherwise a job could start itself again and again.
      const push_options = caller.job ? ['ci.skip'] : given;
      const id = row!;
      row = undefined;
      const sealed = push_options.length === 0 ? undefined : sealedOptions(services, push_options);
      await refsChanged(services, id, updates, sealed);
      return (await kind.answer?.(services, owner, { user_id: caller.id, moved: updates, push_options })) ?? [];
    },
    failed: (error) => log.error({ err: error }, 'a push met an error'),
  };
  /** Withdraws the announcement of a push that moved nothing. */
  const ended = async () => {
    if (row !== undefined) await withdrawUpdates(services.db, row).catch(rules.failed);
  };
  return { rules, ended };
}
