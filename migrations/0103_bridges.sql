-- Jobs that start other pipelines, and the trees that these form.
create table bridges (
  job_id bigint not null,
  pipeline_id bigint,
  has_started boolean not null,
  waits boolean not null,
  constraint bridges_pkey primary key (job_id),
  constraint bridges_job_id_fkey foreign key (job_id) references commit_statuses(id) on delete cascade,
  constraint bridges_pipeline_id_fkey foreign key (pipeline_id) references pipelines(id) on delete set null
);
create index bridges_by_pipeline on bridges using btree (pipeline_id) where pipeline_id is not null;
comment on table bridges is 'Which pipelines the jobs of pipelines have started, or take the status of.';
comment on column bridges.pipeline_id is 'Null when the pipeline was deleted.';
comment on column bridges.has_started is 'Whether the job has started the pipeline, rather than found it.';
comment on column bridges.waits is 'Whether the job ends with the pipeline, and as it does.';

alter table pipelines
  add column parent_id bigint,
  add column tree_id bigint,
  add constraint pipelines_parent_id_fkey foreign key (parent_id) references pipelines(id) on delete cascade;
create index pipelines_by_parent on pipelines using btree (parent_id) where parent_id is not null;
create index pipelines_by_tree on pipelines using btree (tree_id) where tree_id is not null;
comment on column pipelines.parent_id is 'The pipeline of the same project that started it as its child.';
comment on column pipelines.tree_id is 'The pipeline that all began with, of which this one follows through other pipelines. It may be gone.';
