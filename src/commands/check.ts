import { BlobStoreError } from '../blobs/index.ts';
import { closeReaders, GitError } from '../git/index.ts';
import { counted } from '../texts/index.ts';
import { check as findings } from '../upkeep/check.ts';
import type { Finding } from '../upkeep/finding.ts';
import type { Command, Given } from './command.ts';
import { interruption, withDatabase } from './database.ts';

export const check: Command = {
  summary: 'Check that the database, repositories and blobs are consistent',
  help: `Options
  --fix              makes safe repairs and reports them; deletes no data
  --recover          brings back lost branches and tags whose commits still exist

Reads every object of every repository. It can run while the server works. The exit code is 0 if no problem remains, otherwise 1. Updates
that are still pending are not problems.`,
  options: { fix: { type: 'boolean' }, recover: { type: 'boolean' } },
  run: async (given, config) => {
    const signal = interruption();
    return await withDatabase(config, { use: 'shared' }, 4, async ({ db }) => {
      let [found, left, pending] = [0, 0, 0];
      for await (const finding of findings({ db, config, signal })) {
        console.log(finding.sentence);
        if (finding.pending) {
          pending++;
          continue;
        }
        found++;
        const act = actionFor(finding, given.switches);
        if (!act || !(await succeeds(act))) left++;
      }
      await closeReaders();
      if (pending > 0) console.log(`${pending} pending.`);
      console.log(summary(found, left));
      return left === 0 ? 0 : 1;
    });
  },
};

function actionFor(
  { repair, recover }: Finding,
  { fix, recover: wanted }: Given['switches'],
): (() => Promise<string>) | undefined {
  return (fix && repair) || (wanted && recover) || undefined;
}

/** Prints what it did. A repository or a blob that cannot be changed does not keep the others from being repaired. */
async function succeeds(act: () => Promise<string>): Promise<boolean> {
  try {
    console.log(`  ${await act()}`);
    return true;
  } catch (error) {
    if (!(error instanceof GitError || error instanceof BlobStoreError)) throw error;
    console.log(`  This failed: ${error.message}`);
    return false;
  }
}

function summary(found: number, left: number): string {
  if (found === 0) return 'No problems found.';
  const problems = counted(found, 'problem');
  if (left === 0) return `${problems} found, all repaired.`;
  return left === found ? `${problems} found.` : `${problems} found, ${found - left} repaired.`;
}
