//! Results on disk: a journal that survives a kill, Parquet, CSV and JSON.
