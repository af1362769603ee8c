/** The coverage of jobs, as their logs say it (docs/reference/job_logs.md#coverage). */
import { sql } from 'kysely';
import { InvalidExpression, MatchingTimeout, matchGroups } from '../../../expressions/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { linesOfLog, logOf } from '../logs/queries.ts';

/** Lines are matched together up to this number. */
const together = 5_000;
/** How long the lines of one log are matched altogether. */
const budget_ms = 10_000;

const numbers = /\d+(?:\.\d+)?/g;

/** The last match in the lines, and the last number in it. */
async function lastNumber(source: string, lines: readonly string[], left_ms: number): Promise<number | undefined> {
  // The beginning takes all it can, so that the group is the last match of the line.
  const matches = await matchGroups({ source: `.*(?P<found>${source})` }, lines, left_ms);
  const last = matches.findLast((match) => match !== undefined);
  const number = last?.found?.match(numbers)?.at(-1);
  return number === undefined ? undefined : Number(number);
}

/** Enqueued when a job has ended whose configuration says how its coverage is found. A log that takes too long to match says nothing. */
export const measureCoverage = job('measure_job_coverage', {
  input: { job_id: Id },
  retries: 3,
  run: async ({ input: { job_id }, signal, ...services }) => {
    const { db } = services;
    const { rows } = await sql<{ coverage: string | null }>`
      select definition->'job'->>'coverage' as coverage from job_definitions where job_id = ${job_id}`.execute(db);
    const source = rows[0]?.coverage;
    const log = await logOf(db, job_id);
    if (!source || !log) return;
    const until = performance.now() + budget_ms;
    let found: number | undefined;
    try {
      for await (const lines of linesOfLog(services, log, together)) {
        signal.throwIfAborted();
        found = (await lastNumber(source, lines, until - performance.now())) ?? found;
      }
    } catch (error) {
      if (!(error instanceof InvalidExpression || error instanceof MatchingTimeout)) throw error;
      return;
    }
    if (found === undefined) return;
    await db.updateTable('commit_statuses').set({ coverage: found }).where('id', '=', job_id).execute();
  },
});
