import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

test('a job that deploys for a protected branch gets the credentials of the cluster of its environment', async () => {
  const here = await built(
    `
ship: {script: make, environment: staging/eu}
halt: {script: make, environment: {name: staging/eu, action: stop}}
`,
    {},
  );
  const { as, at, project } = here;
  for (const [environment_scope, api_url] of [
    ['*', 'https://any.example.org'],
    ['staging/*', 'https://staging.example.org'],
  ])
    await sent(
      as('admin').post('/admin/clusters/add', {
        ...{ name: 'Cluster', environment_scope, domain: 'apps.example.org' },
        platform_kubernetes_attributes: { api_url, token: 'secret-of-the-cluster' },
      }),
    );
  const runner = await runnerOf(here);
  const variables = async () => {
    const job = (await runner.take())!;
    await job.end('success');
    return Object.fromEntries(
      (job.job.variables as { key: string; value: string; masked: boolean; file: boolean }[]).map((each) => [
        each.key,
        each,
      ]),
    );
  };
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  const given = await variables();
  assert.equal(given.KUBE_URL!.value, 'https://staging.example.org');
  assert.deepEqual([given.KUBE_TOKEN!.value, given.KUBE_TOKEN!.masked], ['secret-of-the-cluster', true]);
  const slug = given.CI_ENVIRONMENT_SLUG!.value;
  assert.equal(given.KUBE_NAMESPACE!.value, `${project.path}-${project.id}-${slug}`);
  assert.equal(given.KUBE_INGRESS_BASE_DOMAIN!.value, 'apps.example.org');
  const config = JSON.parse(given.KUBECONFIG!.value);
  assert.deepEqual([given.KUBECONFIG!.file, config.users[0].user.token], [true, 'secret-of-the-cluster']);
  assert.equal((await variables()).KUBECONFIG, undefined);
  await sent(as('maintainer').delete(`${at}/protected_branches/main`));
  await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
  assert.equal((await variables()).KUBECONFIG, undefined);
});
