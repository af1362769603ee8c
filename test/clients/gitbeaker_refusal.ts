/** How @gitbeaker/rest fails. */
import { GitbeakerRequestError } from '@gitbeaker/rest';

/**
 * What the client throws for a call that must be refused: the status of the answer, and the text that a person reads.
 * @throws Error when the call was not refused
 */
export async function refusal(call: Promise<unknown>): Promise<{ status: number | undefined; text: string }> {
  return call.then(
    () => {
      throw new Error('The call was not refused.');
    },
    (error: unknown) => {
      if (!(error instanceof GitbeakerRequestError)) throw error;
      return { status: error.cause?.response.status, text: error.message };
    },
  );
}
