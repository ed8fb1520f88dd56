create table meta (
  key   text primary key,
  value text not null
) without rowid;

-- What a request body begins with, up to the model's name, and the digest of the text that follows.
create table bodies (
  digest blob primary key,
  head   blob not null,
  text   blob not null
) without rowid;

-- The text of request bodies, once for all models that are sent it.
create table texts (
  digest blob primary key,
  zstd   blob not null
);

create table calls (
  key                blob primary key,
  purpose            text not null,
  session            text not null,
  attack             text not null,
  arm                text not null,
  summarizer         text not null,
  rep                integer not null,
  body               blob not null,
  reply_zstd         blob not null,
  latency_us         integer not null,
  attempts           integer not null,
  tokens_in          integer,
  cached_tokens      integer,
  cache_write_tokens integer,
  tokens_out         integer,
  reasoning_tokens   integer,
  finish_reason      text,
  served_model       text not null,
  served_provider    text,
  fingerprint        text,
  request_id         text
);

create table asked (
  key blob primary key
) without rowid;

create table specimens (
  session text not null,
  attack  text not null,
  plant   text not null,
  primary key (session, attack)
) without rowid;

create table trials (
  session       text not null,
  attack        text not null,
  arm           text not null,
  summarizer    text not null,
  rep           integer not null,
  body          blob,
  input_chars   integer not null,
  exposure      text not null,
  outcome       text not null,
  detail        text not null,
  gate          integer,
  reading       text,
  usable        integer,
  summary_chars integer,
  identifiers   integer,
  found         integer,
  tokens_in     integer,
  tokens_out    integer,
  cost          real,
  call          blob,
  primary key (session, attack, arm, summarizer, rep)
) without rowid;

create table observed (
  session    text not null,
  attack     text not null,
  arm        text not null,
  summarizer text not null,
  rep        integer not null,
  summary    text,
  context    blob,
  request    text,
  notes      text not null,
  primary key (session, attack, arm, summarizer, rep)
) without rowid;

create table captured (
  session    text not null,
  attack     text not null,
  arm        text not null,
  summarizer text not null,
  rep        integer not null,
  number     integer not null,
  key        blob,
  shape      text not null,
  model      text not null,
  request    blob not null,
  chars      integer not null,
  exposure   text not null,
  role       text not null,
  place      text not null,
  outcome    text not null,
  left_out   text not null,
  max_tokens integer,
  primary key (session, attack, arm, summarizer, rep, number)
) without rowid;
