/** The checks of a push before git moves a reference, and its effects after, whatever protocol the push came by. */
import { mayChangeSnippet, projectFor, snippetFor } from '../../../access/index.ts';
import {
  type Environment,
  oddFileMode,
  type Push,
  type PushRules,
  type RepositoryOwner,
  repositoryOf,
} from '../../../git/index.ts';
import type { Caller, Services } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { missingObjects } from '../lfs/index.ts';
import { announceUpdates, type Mover, refsChanged, withdrawUpdates } from './actions.ts';
import type { GitAccess, ProjectAccess, SnippetAccess } from './git_access.ts';
import { mergeRequestLinks } from './merge_request_actions.ts';
import { pushRefusals } from './push_check_rules.ts';
import { oddModeRefusal, readOnlyRefusal } from './rules.ts';
import { snippetRefusals } from './snippet_push_rules.ts';

/** Where a push reports its errors. */
export interface PushLog {
  error(what: { err: unknown }, message: string): void;
}

async function oddTreeRefusals(services: Services, owner: RepositoryOwner, quarantine: Environment): Promise<string[]> {
  const odd = await oddFileMode(repositoryOf(services, owner), quarantine);
  return odd ? [oddModeRefusal(odd)] : [];
}

/** Why a push may not happen, empty when it may. */
type Refusals = (push: Push) => Promise<string[]>;

const projectRefusals =
  (services: Services, { project, caller }: ProjectAccess & { caller: Caller }): Refusals =>
  async (push) => {
    const { updates, quarantine } = push;
    const now = await projectFor(services.db, caller, String(project.id));
    const refusals = now ? await pushRefusals(services, { project: now, caller, quarantine }, updates) : ['The project is gone.'];
    if (refusals.length === 0) refusals.push(...(await oddTreeRefusals(services, project, quarantine)));
    if (refusals.length === 0) refusals.push(...(await missingObjects(services, project, repositoryOf(services, project), push)));
    return refusals;
  };

const refusalsOfSnippet =
  (services: Services, { snippet, project, place, caller }: SnippetAccess & { caller: Caller }): Refusals =>
  async (push) => {
    const [now, snippetNow] = await Promise.all([
      project && projectFor(services.db, caller, String(project.id)),
      snippetFor(services.db, snippet.id),
    ]);
    if (!snippetNow || (project && !now)) return ['The snippet is gone.'];
    if (now?.read_only) return [readOnlyRefusal(now)];
    if (!mayChangeSnippet(caller, snippetNow, now)) return ['You are not allowed to update this snippet.'];
    const { snippet_size_limit: limit_bytes } = await settingsOf(services.db);
    const refusals = await snippetRefusals(repositoryOf(services, place), push, { branch: snippet.branch, limit_bytes });
    return refusals.length > 0 ? refusals : oddTreeRefusals(services, place, push.quarantine);
  };

/**
 * The checks and effects of a push. The rules use the project or snippet as it is when the push has arrived, which may take hours.
 * @returns the rules for `receivePack`, and what must follow when git has ended
 */
export function pushRulesFor(services: Services, granted: GitAccess & { caller: Caller }, log: PushLog) {
  const user_id = granted.caller.id;
  return granted.snippet === undefined
    ? journaled(services, { project: granted.project, user_id }, projectRefusals(services, granted), log)
    : journaled(services, { snippet: granted.place, user_id }, refusalsOfSnippet(services, granted), log);
}

function journaled(services: Services, mover: Mover, refusalsOf: Refusals, log: PushLog) {
  let row: number | undefined;
  const rules: PushRules = {
    async check(push) {
      const refusals = await refusalsOf(push);
      if (refusals.length === 0) row = await announceUpdates(services.db, mover, push.updates);
      return refusals;
    },
    async moved(updates) {
      const id = row!;
      row = undefined;
      await refsChanged(services, id, updates);
      return 'project' in mover ? mergeRequestLinks(services, mover.project.id, updates) : [];
    },
    failed: (error) => log.error({ err: error }, 'a push met an error'),
  };
  /** Withdraws the announcement of a push that moved nothing. */
  const ended = async () => {
    if (row !== undefined) await withdrawUpdates(services.db, row).catch(rules.failed);
  };
  return { rules, ended };
}
