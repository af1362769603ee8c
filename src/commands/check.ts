import path from 'node:path';
import { areaServices } from '../areas/index.ts';
import type { Config } from '../config.ts';
import { isUnavailable } from '../db/index.ts';
import { closeReaders } from '../git/index.ts';
import { servicesFor } from '../services/index.ts';
import { counted } from '../texts/index.ts';
import { acceptRefs, RefsRefused } from '../upkeep/accept_refs.ts';
import { check as findings } from '../upkeep/check.ts';
import { fileSystemProblems, fileSystemTimes } from '../upkeep/check_file_system.ts';
import type { Finding } from '../upkeep/finding.ts';
import { type RefDifference, shownRef } from '../upkeep/recorded_refs.ts';
import { repositoryAt } from '../upkeep/repositories.ts';
import { type Arguments, type Command, OperatorError, UsageError } from './command.ts';
import { interruption, type OpenDatabase, withDatabase } from './database.ts';
import { fileReason } from './reasons.ts';

export const check: Command = {
  summary: 'Check that the database, repositories and large files are consistent',
  help: `Options
  --fix              makes safe repairs and reports them; deletes no data
  --recover          brings back lost branches and tags whose commits still exist
  --accept-refs PATH instead of checking, records that the branches and tags of one repository are right as they are, although they were
                     changed outside a push. PATH is that of a project (orchard/apples) or snippet (snippets/7, orchard/apples/snippets/7).
                     Merge requests and webhooks follow as after a push
  --storage NAME     instead of checking, tries whether the file system of a storage does what git needs, and how fast it is
  --elsewhere FOLDER with --storage: the same folder through another mount, as another machine has it

Reads every object of every repository and every large file. It can run while the server works. The exit code is 0 if no problem remains, otherwise 1. Updates
that are still pending are not problems.`,
  options: {
    fix: { type: 'boolean' },
    recover: { type: 'boolean' },
    'accept-refs': { type: 'string' },
    storage: { type: 'string' },
    elsewhere: { type: 'string' },
  },
  run: async (given, config) => {
    const { storage, elsewhere } = given.text;
    if (storage !== undefined) return await tryStorage(config, storage, elsewhere);
    if (elsewhere !== undefined) throw new UsageError('--elsewhere goes with --storage.');
    const signal = interruption();
    const accepted = given.text['accept-refs'];
    if (accepted !== undefined && (given.switches.fix || given.switches.recover))
      throw new UsageError('--accept-refs does not go with --fix or --recover: it checks nothing.');
    return await withDatabase(config, { use: 'shared' }, 4, async ({ db }) => {
      try {
        return accepted === undefined
          ? await checkAll({ db, config, signal }, given.switches)
          : await accept({ db, config }, accepted);
      } finally {
        await closeReaders();
      }
    });
  },
};

/** How often each trial is made. */
const trials = 200;

async function tryStorage({ storages }: Config, name: string, elsewhere: string | undefined): Promise<number> {
  const found = storages.find((storage) => storage.name === name);
  if (!found) throw new UsageError(`COPPICE_STORAGES does not name a storage ${name}.`);
  const tried = {
    folder: found.path,
    times: trials,
    ...(elsewhere !== undefined && { elsewhere: path.resolve(elsewhere) }),
  };
  try {
    const problems = await fileSystemProblems(tried);
    for (const problem of problems) console.log(problem);
    for (const [operation, taken_ms] of await fileSystemTimes(tried))
      console.log(`${operation}: ${taken_ms.toFixed(3)} ms`);
    console.log(
      problems.length === 0 ? 'The file system does what git needs.' : `${counted(problems.length, 'problem')} found.`,
    );
    return problems.length === 0 ? 0 : 1;
  } catch (error) {
    throw new OperatorError(fileReason(error) ?? (error as Error).message, { cause: error });
  }
}

interface Checking {
  db: OpenDatabase['db'];
  config: Config;
  signal: AbortSignal;
}

/** The state shared by the findings of a repository: how it was checked. */
type Look = NonNullable<Finding['again']>;

async function checkAll(options: Checking, wanted: Arguments['switches']): Promise<number> {
  const mended = new Set<Look>();
  const left: Finding[] = [];
  let [found, pending] = [0, 0];
  for await (const finding of findings(options)) {
    console.log(finding.sentence);
    if (finding.pending) {
      pending++;
      continue;
    }
    found++;
    const act = actionFor(finding, wanted);
    const isMended = act !== undefined && (await succeeds(act, options.signal));
    if (!isMended) left.push(finding);
    else if (finding.again) mended.add(finding.again);
  }
  const elsewhere = left.filter(({ again }) => again === undefined || !mended.has(again));
  const remaining = await lookAgain(mended, options.signal);
  if (pending > 0) console.log(`${pending} pending.`);
  console.log(summary(found, elsewhere.length + remaining, left.length === found));
  return elsewhere.length + remaining === 0 ? 0 : 1;
}

/**
 * Checks the repositories that were changed again, and prints the remaining problems.
 * @returns the number of problems
 */
async function lookAgain(mended: ReadonlySet<Look>, signal: AbortSignal): Promise<number> {
  let remaining = 0;
  for (const look of mended) {
    signal.throwIfAborted();
    for (const { sentence, pending } of await look()) {
      if (pending) continue;
      console.log(`Still: ${sentence}`);
      remaining++;
    }
  }
  return remaining;
}

function actionFor(
  { repair, recover }: Finding,
  { fix, recover: wanted }: Arguments['switches'],
): (() => Promise<string>) | undefined {
  return (fix && repair) || (wanted && recover) || undefined;
}

/** Repairs findings and prints the results. A finding that cannot be repaired does not stop the others; only a lost database does. */
async function succeeds(act: () => Promise<string>, signal: AbortSignal): Promise<boolean> {
  try {
    console.log(`  ${await act()}`);
    return true;
  } catch (error) {
    if (signal.aborted || isUnavailable(error)) throw error;
    console.log(`  This failed: ${fileReason(error) ?? (error as Error).message}`);
    return false;
  }
}

function summary(found: number, left: number, isUntouched: boolean): string {
  if (found === 0) return 'No problems found.';
  const problems = counted(found, 'problem');
  if (left === 0) return `${problems} found, all repaired.`;
  return isUntouched ? `${problems} found.` : `${problems} found, ${left} left after the repairs.`;
}

async function accept({ db, config }: Omit<Checking, 'signal'>, path: string): Promise<number> {
  const row = await repositoryAt(db, path);
  if (!row) throw new OperatorError(`There is no project, snippet or wiki ${path}.`);
  const accepted = await acceptRefs(servicesFor(config, db, areaServices), row).catch((error) => {
    throw error instanceof RefsRefused ? new OperatorError(`${path}: ${error.message}`, { cause: error }) : error;
  });
  for (const difference of accepted) console.log(`${row.full_path}: ${acceptance(difference)}`);
  if (accepted.length === 0) console.log(`${row.full_path}: all branches and tags are where the last push left them.`);
  return 0;
}

function acceptance({ ref, recorded, now }: RefDifference): string {
  const name = shownRef(ref);
  if (now === null) return `the ${name} is recorded as deleted; it was at ${recorded}.`;
  return `the ${name} is recorded at ${now}; ${recorded === null ? 'it was not recorded before' : `before, it was at ${recorded}`}.`;
}
