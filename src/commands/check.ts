import { closeReaders } from '../git/index.ts';
import { check as findings } from '../upkeep/check.ts';
import type { Command } from './command.ts';
import { interruption, withDatabase } from './database.ts';

export const check: Command = {
  summary: 'Check that the database, repositories and blobs are consistent',
  help: `Options
  --fix              repairs what can be repaired without harm, and says what it did

Reads every object of every repository. It may run beside the server. The exit code is 0 when nothing is wrong (any more), else 1.`,
  options: { fix: { type: 'boolean' } },
  run: async (given, config) => {
    const signal = interruption();
    return await withDatabase(config, { use: 'shared' }, 4, async ({ db }) => {
      let [found, left] = [0, 0];
      for await (const { sentence, repair } of findings({ db, config, signal })) {
        found++;
        console.log(sentence);
        if (given.switches.fix && repair) console.log(`  ${await repair()}`);
        else left++;
      }
      await closeReaders();
      console.log(summary(found, left));
      return left === 0 ? 0 : 1;
    });
  },
};

function summary(found: number, left: number): string {
  if (found === 0) return 'No problems found.';
  if (left === 0) return `${found} found, all repaired.`;
  return left === found ? `${found} found.` : `${found} found, ${found - left} repaired.`;
}
