import assert from 'node:assert/strict';
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { test } from 'node:test';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import type { World } from '../../../../test/support/world.ts';
import { rotateSigningKey } from '../../instance/signing_keys/index.ts';
import { processAgain } from '../running/index.ts';

const configuration = `
build:
  script: make
  variables: {PLACE: vault}
  id_tokens:
    ONE: {aud: "https://$PLACE.example.com"}
    TWO: {aud: [a, b]}
deploy:
  script: make deploy
  needs: []
  environment: {name: production, action: access}
  id_tokens: {ONE: {aud: c}}
`;

const partOf = (token: string, index: number) =>
  JSON.parse(Buffer.from(token.split('.')[index]!, 'base64url').toString());

async function published({
  url,
  services,
}: Pick<World, 'url' | 'services'>): Promise<(JsonWebKey & { kid: string })[]> {
  const read = async (path: string) => (await (await fetch(url + path)).json()) as Record<string, unknown>;
  const { issuer, jwks_uri } = await read('/.well-known/openid-configuration');
  assert.deepEqual([issuer, jwks_uri], [services.url, `${services.url}/oauth/discovery/keys`]);
  return (await read('/oauth/discovery/keys')).keys as (JsonWebKey & { kid: string })[];
}

test('a job gets ID tokens that anybody can check, and that are masked', async () => {
  const here = await built(configuration, {});
  const { as, at, project, group, people, services, sha } = here;
  assert.deepEqual(await published(here), []);
  const { id: pipeline_id } = await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await performQueued(services, [processAgain]);
  const runner = await runnerOf(here);
  const [first, second] = [(await runner.take())!, (await runner.take())!];
  const jobs = Object.fromEntries([first, second].map(({ job }) => [job.job_info.name, job]));
  const tokenOf = (job: string, key: string) =>
    jobs[job].variables.find((variable: { key: string }) => variable.key === key);
  const one = tokenOf('build', 'ONE');
  assert.deepEqual([one.masked, one.public, one.raw], [true, false, true]);
  const [key, ...others] = await published(here);
  assert.deepEqual(others, []);
  assert.deepEqual(Object.keys(key!).toSorted(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
  assert.deepEqual(partOf(one.value, 0), { kid: key!.kid, typ: 'JWT', alg: 'RS256' });
  const isGenuine = (token: string) => {
    const [header, claims, signature] = token.split('.') as [string, string, string];
    const signed = Buffer.from(`${header}.${claims}`);
    const publicKey = createPublicKey({ key: key!, format: 'jwk' });
    return verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url'));
  };
  const [two, three] = [tokenOf('build', 'TWO').value, tokenOf('deploy', 'ONE').value];
  assert.deepEqual([one.value, two, three].map(isGenuine), [true, true, true]);
  const { iat, nbf, exp, jti, ...claims } = partOf(one.value, 1);
  assert.deepEqual([nbf, exp], [iat - 5, iat + jobs.build.runner_info.timeout]);
  assert.notEqual(jti, partOf(two, 1).jti);
  assert.deepEqual(claims, {
    iss: services.url,
    sub: `project_path:${project.full_path}:ref_type:branch:ref:main`,
    aud: 'https://vault.example.com',
    namespace_id: String(group.id),
    namespace_path: group.full_path,
    project_id: String(project.id),
    project_path: project.full_path,
    project_visibility: 'private',
    user_id: String(people.maintainer.id),
    user_login: people.maintainer.username,
    user_email: (await sent(as('maintainer').get('/user'))).email,
    user_access_level: 'maintainer',
    pipeline_id: String(pipeline_id),
    pipeline_source: 'api',
    job_id: String(jobs.build.id),
    ref: 'main',
    ref_type: 'branch',
    ref_path: 'refs/heads/main',
    ref_protected: claims.ref_protected,
    sha,
    runner_id: claims.runner_id,
    runner_environment: 'self-hosted',
  });
  assert.deepEqual(partOf(two, 1).aud, ['a', 'b']);
  const deploying = partOf(three, 1);
  assert.deepEqual([deploying.environment, deploying.environment_action], ['production', 'access']);

  await rotateSigningKey(here.db, services.secrets);
  const [successor, former, ...more] = await published(here);
  assert.deepEqual([former, more], [key, []], 'tokens of the former key can be checked');
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  await performQueued(services, [processAgain]);
  const later = (await runner.take())!.job.variables.find((variable: { key: string }) => variable.key === 'ONE');
  assert.equal(partOf(later.value, 0).kid, successor!.kid);
  await here.db
    .updateTable('id_token_keys')
    .set({ retired_at: new Date(Date.now() - 25 * 3_600_000).toISOString() })
    .where('retired_at', 'is not', null)
    .execute();
  assert.deepEqual(await published(here), [successor]);
});
