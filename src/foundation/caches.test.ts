import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answersOf, JointQuestions } from './caches.ts';

test('many who ask the same at a time get one answer, which is kept unless it is a failure or too long', async () => {
  const asked: { question: number; answer: PromiseWithResolvers<string | undefined> }[] = [];
  const ask = (question: number) => {
    const answer = Promise.withResolvers<string | undefined>();
    asked.push({ question, answer });
    return answer.promise;
  };
  const answers = answersOf(ask, { maxSize: 10, maxEntrySize: 6, sizeCalculation: (text) => text.length });
  const both = (question: number) => [1, 2].map(() => answers.fetch(`key ${question}`, { context: question }));
  const times = (question: number) => asked.filter((one) => one.question === question).length;

  const failing = Promise.allSettled(both(1));
  asked[0]!.answer.reject(new Error('away'));
  assert.deepEqual(
    (await failing).map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  const kept = both(1);
  asked[1]!.answer.resolve('answer');
  assert.deepEqual(await Promise.all([...kept, ...both(1)]), ['answer', 'answer', 'answer', 'answer']);
  assert.equal(times(1), 2);

  for (const answer of ['a long answer', undefined]) {
    const unkept = both(2);
    asked.at(-1)!.answer.resolve(answer);
    assert.deepEqual(await Promise.all(unkept), [answer, answer]);
  }
  assert.equal(times(2), 2);

  // The first is dropped for the others before it has arrived.
  const dropped = both(3);
  const slow = asked.at(-1)!.answer;
  for (const text of ['four', 'five', 'nine']) answers.set(text, text);
  slow.resolve('late');
  assert.deepEqual(await Promise.all(dropped), ['late', 'late']);
});

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
