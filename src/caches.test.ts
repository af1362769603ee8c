import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JointQuestions } from './caches.ts';

test('who asks while an answer is on its way gets the next one, together with others', async () => {
  const asked: { key: string; answer: PromiseWithResolvers<number> }[] = [];
  const questions = new JointQuestions((key: string) => {
    const answer = Promise.withResolvers<number>();
    asked.push({ key, answer });
    return answer.promise;
  });
  const first = questions.ask('a');
  const [second, third] = [questions.ask('a'), questions.ask('a')];
  const other = questions.ask('b');
  assert.deepEqual(
    asked.map(({ key }) => key),
    ['a', 'b'],
  );
  asked[0]!.answer.reject(new Error('away'));
  await assert.rejects(first, /away/);
  await Promise.resolve();
  assert.equal(asked.length, 3);
  asked[1]!.answer.resolve(1);
  asked[2]!.answer.resolve(2);
  assert.deepEqual(await Promise.all([second, third, other]), [2, 2, 1]);

  const later = questions.ask('a');
  assert.equal(asked.length, 4);
  asked[3]!.answer.resolve(3);
  assert.equal(await later, 3);
});
