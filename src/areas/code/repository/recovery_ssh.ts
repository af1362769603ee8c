/** New recovery codes over SSH, for somebody who has lost their second factor and has a key (docs/reference/second_factors.md#recovery-codes). */
import { createInterface } from 'node:readline';
import type { Caller, Services } from '../../../http/index.ts';
import type { SshCommand } from '../../../ssh/index.ts';
import { renewCodes } from '../../people/second_factors/index.ts';
import { refusal } from './rules.ts';

/** How long the answer may take. */
const answer_ms = 60_000;
const longestAnswer_characters = 100;

/** The first line that the client sends; undefined if none comes in time. */
async function answerIn({ channel, signal }: SshCommand): Promise<string | undefined> {
  const lines = createInterface({ input: channel, crlfDelay: Number.POSITIVE_INFINITY });
  const late = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
  late.addEventListener('abort', () => lines.close());
  let seen = 0;
  channel.on('data', (bytes: Buffer) => {
    seen += bytes.length;
    if (seen > longestAnswer_characters) lines.close();
  });
  for await (const line of lines) return line.trim().toLowerCase();
  return undefined;
}

/**
 * Asks whether to make new codes, and prints them.
 * @throws ApiError 403 for a key that is no person's, and on a secondary site; 409 without a second factor
 */
export async function printRecoveryCodes(
  { db, geo }: Pick<Services, 'db' | 'geo'>,
  caller: Caller,
  command: SshCommand,
): Promise<void> {
  if (caller.deploys) throw refusal(403, "The command you're trying to execute is not allowed.");
  if (geo.role === 'secondary') throw refusal(403, 'Ask the primary site for recovery codes.');
  const { channel } = command;
  channel.write(
    'Are you sure you want to generate new recovery codes? The former ones will no longer count. (yes/no)\n',
  );
  if ((await answerIn(command)) !== 'yes') {
    channel.write('No new codes were made.\n');
    return;
  }
  const codes = await renewCodes(db, caller.id);
  channel.write(
    `Your new recovery codes, each of which signs you in once in place of your second factor:\n\n${codes.join('\n')}\n`,
  );
}
