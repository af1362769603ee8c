/** How often runners may call (docs/reference/runners.md#limits). */
import { countGuess, refuseTooOften } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { ApiError } from '../../../http/index.ts';

const guesses = { name: 'runner_token_guesses_from_address', most: 50, window_s: 600 };

/**
 * Counts a wrong token by the address that it comes from. Right ones are not counted, so that guesses do not harm the runners behind the same address.
 * @throws ApiError 429 instead of `refusal` after too many wrong tokens
 */
export async function refuseToken(db: Database, address: string, refusal: ApiError): Promise<never> {
  await countGuess(db, { ...guesses, who: address });
  throw refusal;
}

/**
 * Counts a request for a job.
 * @throws ApiError 429
 */
export const countJobRequest = (db: Database, manager_id: number): Promise<void> =>
  refuseTooOften(db, {
    ...{ name: 'job_requests_of_manager', most: 120, window_s: 60 },
    who: `runner_manager:${manager_id}`,
  });
