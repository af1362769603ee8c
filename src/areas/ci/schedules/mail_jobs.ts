/** Tells the owner of a schedule that it was switched off. */
import { projectPage, recipientFor } from '../../../access/index.ts';
import { Id } from '../../../http/index.ts';
import { job } from '../../../jobs/index.ts';
import { mailRetries } from '../../../mail/index.ts';

/** Sends one message, unless the schedule is on again. */
export const tellOfStop = job('tell_of_stopped_pipeline_schedule', {
  input: { schedule_id: Id },
  retries: mailRetries,
  async run({ db, mailer, url, input: { schedule_id } }) {
    const schedule = await db
      .selectFrom('pipeline_schedules')
      .innerJoin('projects', 'projects.id', 'project_id')
      .select(['pipeline_schedules.description', 'ref', 'owner_id', 'full_path', 'pipeline_schedules.updated_at'])
      .where('pipeline_schedules.id', '=', schedule_id)
      .where('active', '=', false)
      .executeTakeFirst();
    const to = schedule && (await recipientFor(db, schedule.owner_id));
    if (!schedule || !to) return;
    await mailer.send({
      to,
      id: `pipeline-schedule-${schedule_id}-${schedule.updated_at}`,
      subject: `A pipeline schedule of ${schedule.full_path} is switched off`,
      paragraphs: [
        `Your pipeline schedule in ${schedule.full_path} was due, but you may not run pipelines for its branch or tag any more. It is switched off.`,
        {
          facts: [
            ['Schedule', schedule.description],
            ['Branch or tag', schedule.ref.replace(/^refs\/(?:heads|tags)\//, '')],
          ],
        },
        'Somebody who may run them can take it over.',
        { link: 'View the project', url: url + projectPage(schedule.full_path) },
      ],
    });
  },
});
