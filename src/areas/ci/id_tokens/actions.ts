/** Making ID tokens for jobs (docs/reference/id_tokens.md). */
import { randomUUID } from 'node:crypto';
import { type CiVariable, expand, type Job } from '../../../ci_configuration/index.ts';
import type { Services } from '../../../http/index.ts';
import { signer } from '../../instance/signing_keys/index.ts';
import { claimsOf, type JobFacts } from './rules.ts';

/**
 * The ID tokens of a job, as masked variables.
 * @param wanted as its configuration has them
 * @param values of the other variables, which an audience may name
 */
export async function idTokensFor(
  services: Pick<Services, 'db' | 'secrets'>,
  facts: JobFacts,
  wanted: Job['id_tokens'],
  values: Parameters<typeof expand>[1],
): Promise<CiVariable[]> {
  if (wanted.length === 0) return [];
  const sign = await signer(services);
  return Promise.all(
    wanted.map(async ({ name, aud }) => {
      const audience = typeof aud === 'string' ? expand(aud, values) : aud.map((each) => expand(each, values));
      const claims = claimsOf(facts, audience, { now_s: Math.floor(Date.now() / 1000), id: randomUUID() });
      return { key: name, value: await sign(claims), raw: true, masked: true };
    }),
  );
}
