import assert from 'node:assert/strict';
import { test } from 'node:test';
import { performQueued } from '../../../../../test/support/jobs.ts';
import { addMergeRequest, settleMergeRequests } from '../../../../../test/support/merge_requests.ts';
import { approvalPolicy, pushPolicies, worldWithPolicies } from '../../../../../test/support/policies.ts';
import { sent } from '../../../../../test/support/sent.ts';
import type { World } from '../../../../../test/support/world.ts';
import type { RuleState } from './demand_rules.ts';
import { writePolicyMessage, writePolicyMessages } from './message_jobs.ts';
import { messageOf } from './message_rules.ts';

const withMessage = (enabled = true) => `${approvalPolicy()}      - { type: send_bot_message, enabled: ${enabled} }\n`;

const settle = async (here: World) => {
  await settleMergeRequests(here);
  await performQueued(here.services, [writePolicyMessages, writePolicyMessage]);
};

interface Shown {
  id: number;
  body: string;
  system: boolean;
  author: { id: number; username: string };
}

const comments = async ({ as, project }: World): Promise<Shown[]> =>
  (await as('reporter').get(`/projects/${project.id}/merge_requests/1/notes`, { activity_filter: 'only_comments' }))
    .body;

test('a bot says what policies ask for, and edits what it has said', async () => {
  const { here, policies } = await worldWithPolicies(withMessage());
  const { as, project } = here;
  await addMergeRequest(here);
  await settle(here);
  const [first, ...more] = await comments(here);
  assert.deepEqual(more, []);
  assert.match(
    first!.body,
    /^\*\*Security policies ask for approvals.*\n\n- \*\*Four eyes\*\* asks for 1 more approval\.\n {2}- Each merge request into the branch needs it/,
  );
  const bot = (await as('admin').get(`/users/${first!.author.id}`)).body;
  assert.deepEqual([bot.bot, bot.name, first!.system], [true, 'Security Policy Bot', false]);

  const said = async () => {
    await settle(here);
    const found = await comments(here);
    assert.deepEqual(
      found.map(({ id }) => id),
      [first!.id],
    );
    return found[0]!.body;
  };
  const url = `/projects/${project.id}/merge_requests/1`;
  await sent(as('maintainer').post(`${url}/approve`));
  assert.equal(await said(), 'All approvals that security policies ask for are given.');
  await sent(as('maintainer').post(`${url}/unapprove`));
  assert.equal(await said(), first!.body);
  await pushPolicies(here, policies, withMessage().replace('approvals_required: 1', 'approvals_required: 2'));
  assert.match(await said(), /asks for 2 more approvals/);
  await pushPolicies(here, policies, withMessage(false));
  assert.equal(await said(), 'No security policy asks for approvals of this merge request.');

  for (const path of ['block', 'deactivate', 'ban'])
    assert.equal((await as('admin').post(`/users/${bot.id}/${path}`)).status, 403, path);
  assert.equal((await as('admin').delete(`/users/${bot.id}`)).status, 403);
});

test('without a wish for messages, and while nothing was ever missing, the bot says nothing', async () => {
  const { here } = await worldWithPolicies(approvalPolicy(), {});
  await addMergeRequest(here);
  await settle(here);
  assert.deepEqual(await comments(here), []);
  const bots = await here.db.selectFrom('users').select('id').where('user_type', '=', 'security_policy_bot').execute();
  assert.deepEqual(bots, [], 'the account is made when it is needed');
});

test('what people have named does not become markup in a message', () => {
  const rule = {
    ...{ name: 'x', approvals_left: 1, approvals_required: 1 },
    policy: { name: '[all](https://a.example) @everyone', reasons: ['`x`'], tells: true },
  } as unknown as RuleState;
  const body = messageOf([rule], false)!;
  assert.match(body, /\\\[all\\\]\\\(https/);
  assert.match(body, /\\@everyone/);
  assert.equal(messageOf([{ ...rule, approvals_left: 0 }], false), undefined);
});
