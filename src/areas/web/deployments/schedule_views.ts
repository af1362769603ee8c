/** Views of schedules of pipelines. */
import type { Static } from 'typebox';
import type { Page as ListPage } from '../../../http/index.ts';
import {
  chip,
  form,
  type Html,
  hidden,
  html,
  pager,
  person,
  rows,
  type Seen,
  time,
  type View,
} from '../../../pages/index.ts';
import type { PipelineSchedule } from '../../ci/schedules/index.ts';
import { type InProject, newButton } from './definition.ts';

type Schedule = Static<typeof PipelineSchedule>;

interface Shown extends InProject {
  schedules: ListPage<Schedule>;
  /** Whether the caller may run pipelines, and take schedules over. */
  may_run: boolean;
  may_take: boolean;
}

function scheduleRow(
  { id, description, ref, cron, cron_timezone, active, next_run_at, owner }: Schedule,
  { may_run, may_take }: Shown,
  seen: Seen,
): Html {
  const isOwn = owner.id === seen.caller?.id;
  const button = (name: string, label: string, look: 'plain' | 'danger') =>
    form(seen, name, {
      fields: [hidden('pipeline_schedule_id', id)],
      button: html`${label} <span class="visually-hidden">${description}</span>`,
      ...{ look, key: id },
    });
  return html`<span class="title">${description}</span> ${!active && chip('off')}
<div class="soft">${ref.replace(/^refs\/(?:heads|tags)\//, '')}, <code>${cron}</code> ${cron_timezone}${active && next_run_at !== null && html`, next ${time(next_run_at)}`}, by ${person(owner)}</div>
<div class="actions">${may_run && button('play', 'Run', 'plain')}${
    isOwn
      ? html`<a class="button" href="${`${seen.path}/${id}/edit`}">Edit <span class="visually-hidden">${description}</span></a>`
      : may_take && button('take', 'Take over', 'plain')
  }${(isOwn || may_take) && button('remove', 'Delete', 'danger')}</div>`;
}

export function schedulesView(shown: Shown, seen: Seen): View {
  const { id, schedules, may_run } = shown;
  return {
    title: ['Pipeline schedules', id],
    place: { id, kind: 'project', tab: 'pipeline_schedules' },
    main: html`${may_run && html`<p class="actions">${newButton(`${seen.path}/new`, 'New schedule')}</p>`}
${rows(
  schedules.items.map((each) => scheduleRow(each, shown, seen)),
  'There are no schedules: pipelines start when somebody pushes or asks for one.',
)}
${pager(schedules, seen)}`,
  };
}
