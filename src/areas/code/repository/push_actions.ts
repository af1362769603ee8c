/** The checks of a push before git moves a reference, and its effects after, whatever protocol the push came by. */
import { type Project, projectFor } from '../../../access/index.ts';
import { type Environment, oddFileMode, type PushRules, repositoryOf } from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { missingObjects } from '../lfs/index.ts';
import { announceUpdates, refsChanged, withdrawUpdates } from './actions.ts';
import type { GitAccess } from './git_access.ts';
import { pushRefusals } from './push_check_rules.ts';
import { oddModeRefusal } from './rules.ts';

/** Where a push reports its errors. */
export interface PushLog {
  error(what: { err: unknown }, message: string): void;
}

async function oddTreeRefusals(services: Services, project: Project, quarantine: Environment): Promise<string[]> {
  const odd = await oddFileMode(repositoryOf(services, project), quarantine);
  return odd ? [oddModeRefusal(odd)] : [];
}

/**
 * The checks and effects of a push. The rules use the project as it is when the push has arrived, which may take hours.
 * @returns the rules for `receivePack`, and what must follow when git has ended
 */
export function pushRulesFor(services: Services, { project, caller }: GitAccess & { caller: Caller }, log: PushLog) {
  let row: number | undefined;
  const rules: PushRules = {
    async check(push) {
      const { updates, quarantine } = push;
      const now = await projectFor(services.db, caller, String(project.id));
      const refusals = now
        ? await pushRefusals(services, { project: now, caller, quarantine }, updates)
        : ['The project is gone.'];
      if (refusals.length === 0) refusals.push(...(await oddTreeRefusals(services, project, quarantine)));
      if (refusals.length === 0)
        refusals.push(...(await missingObjects(services, project, repositoryOf(services, project), push)));
      if (refusals.length === 0) row = await announceUpdates(services.db, { project, user_id: caller.id }, updates);
      return refusals;
    },
    async moved(updates) {
      const id = row!;
      row = undefined;
      await refsChanged(services, id, updates);
      return [];
    },
    failed: (error) => log.error({ err: error }, 'a push met an error'),
  };
  /** Withdraws the announcement of a push that moved nothing. */
  const ended = async () => {
    if (row !== undefined) await withdrawUpdates(services.db, row).catch(rules.failed);
  };
  return { rules, ended };
}
