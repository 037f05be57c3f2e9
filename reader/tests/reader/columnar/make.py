# files of pyarrow, pandas and polars with the same predictions
import numpy as np, pandas as pd, pyarrow as pa, pyarrow.parquet as pq, polars as pl, os
rows=np.array([[0.7,0.2,0.1],[0.1,0.8,0.1],[0.3,0.3,0.4],[0.25,0.5,0.25]])
lab=["cat","dog","cat","emu"]; y=[0,1,0,2]
names=["cat","dog","emu"]
os.chdir(os.path.dirname(os.path.abspath(__file__)))
df=pd.DataFrame(rows,columns=names); df['label']=lab
df.to_parquet('pandas.parquet')
df.astype({'label':'category'}).to_parquet('category.parquet',compression='gzip')
df.set_index(pd.Index([5,6,9,11])).to_parquet('index.parquet',compression='zstd')
pl.DataFrame(df).write_parquet('polars.parquet')
lists=pa.table({'label':pa.array(y,pa.int8()),'probs':pa.array(rows.tolist(),pa.list_(pa.float64()))})
pq.write_table(lists,'lists.parquet')
fixed=pa.table({'probs':pa.FixedSizeListArray.from_arrays(pa.array(rows.ravel(),pa.float32()),3),'label':pa.array(lab).dictionary_encode()})
pq.write_table(fixed,'fixed.parquet',row_group_size=3)
half=pa.table({n:pa.array(rows[:,i].astype(np.float16)) for i,n in enumerate(names)}|{'label':pa.array(lab,pa.large_string())})
pq.write_table(half,'half.parquet',data_page_version='2.0',compression='lz4')
split=pa.table({n:pa.array(rows[:,i].astype(np.float32)) for i,n in enumerate(names)}|{'label':pa.array(lab)})
pq.write_table(split,'split.parquet',use_byte_stream_split=names,use_dictionary=False)
pq.write_table(split,'plain.parquet',use_dictionary=False,compression='none')
pq.write_table(split,'delta.parquet',use_dictionary=False,column_encoding={'cat':'PLAIN','dog':'PLAIN','emu':'PLAIN','label':'DELTA_BYTE_ARRAY'})
pq.write_table(pa.table({'y':pa.array(y,pa.uint16())}),'y.parquet')
hot=pa.table({n:pa.array([l==n for l in lab]) for n in names}); pq.write_table(hot,'hot.parquet')
pq.write_table(pa.table({'cat':[0.5,None,1.0],'dog':[0.5,0.5,0.0]}),'null.parquet')
pq.write_table(pa.table({'probs':pa.array([[0.5,0.5],[0.5,None],[1.0,0.0]])}),'nulllist.parquet')
pq.write_table(pa.table({'probs':pa.array([[0.5,0.5],[1.0],[1.0,0.0]])}),'ragged.parquet')
pq.write_table(pa.table({'when':pa.array([1,2],pa.timestamp('s')),'p':[0.5,0.5],'q':[0.5,0.5]}),'date.parquet')
import decimal, datetime
D=decimal.Decimal
types={'dec0':pa.array([D(v) for v in y],pa.decimal128(5,0)),'dec2':pa.array([D(v).quantize(D('0.01')) for v in y],pa.decimal128(25,2)),
 'big':pa.array([D(v) for v in y],pa.decimal256(40,3)),
 'fixed':pa.array([v.to_bytes(2,'little') for v in y],pa.binary(2)),'bytes':pa.array([str(v).encode() for v in y],pa.binary()),
 'date':pa.array(y,pa.date32()),'second':pa.array(y,pa.timestamp('s')),'nano':pa.array(y,pa.timestamp('ns')),
 'span':pa.array(y,pa.duration('ns')),'time':pa.array(y,pa.time64('us')),'list':pa.array([[v] for v in y],pa.list_(pa.int64()))}
types=pa.table({n:pa.array([D(str(v)).quantize(D('0.01')) for v in rows[:,i]],pa.decimal128(3,2)) for i,n in enumerate(names)}|types)
pq.write_table(types,'types.parquet',compression='none')
whole=types.select(names+['dec0','dec2'])
pq.write_table(whole,'whole.parquet',store_decimal_as_integer=True,compression='none')
